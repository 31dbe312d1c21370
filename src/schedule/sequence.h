// The actions of one sweep, forward and reverse, one at a time.
//
// Kept states form a stack: anchors (meant for disk) below, RAM checkpoints above. Everything is
// one rule: to reach step i, start from the newest kept state and place checkpoints by Revolve with
// the slots that are free. The forward sweep is the same rule with TURN as step n, so E(n+1, s)
// advances in all.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "schedule/action.h"
#include "schedule/anchor_list.h"
#include "schedule/interval.h"
#include "schedule/mixed.h"
#include "schedule/online_placement.h"
#include "schedule/revolve.h"

namespace anadrome::schedule {

inline constexpr std::int64_t kUnknown = -1;
inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

struct SequenceOptions {
  std::int64_t steps = 0;       ///< n, or kUnknown
  std::int64_t slots = 1;       ///< s: RAM checkpoints, the start of the current interval included
  std::int64_t most_slots = 0;  ///< s is never set to more than this; 0: it stays as it is
  bool anchored = false;        ///< put anchors at intervals; otherwise x_0 is the only one
  std::int64_t interval = 0;    ///< steps between anchors; 0: asked for by kDecide, at every anchor
  std::int64_t most_anchors = kNoLimit;  ///< after so many anchors the rest is reversed from RAM
  bool all_anchors =
      false;  ///< anchors up to the end of the sweep, as for files that are to be kept
  bool keep_every = false;  ///< unknown n: keep every state; an error when the slots are used up
  bool record = false;      ///< the adjoint of a step needs its tape
  /// Slots that a kept tape takes; 0: tapes are not kept. Between anchors only, and not with
  /// keep_every.
  std::int64_t tape_units = 0;
};

class Sequence {
 public:
  /// The sweep begins at x_0, live. Throws ERR_ARGUMENT on options that make no sense.
  explicit Sequence(const SequenceOptions& options);

  /// The next action. Throws ERR_MEMORY if keep_every meets the end of the slots.
  Action next();

  /// Answers to kDecide: an anchor every `interval` steps from here on, reversed with `slots`
  /// slots; or ask again after `steps`.
  void set_interval(std::int64_t interval, std::int64_t slots);
  void probe(std::int64_t steps);
  /// Or none: all that follows the newest anchor is reversed from RAM with `slots` slots. n is
  /// known.
  void end_in_ram(std::int64_t slots);

  /// The forward sweep ended with x_steps live; unknown n only, inside the last kAdvance.
  void finish_forward(std::int64_t steps);

  /// Before the first action: go on in the middle. Forward: the newest of `anchors` is live, and
  /// steps below `run_before` were run once. Reverse: of n = `steps` steps those from `position` on
  /// are adjoined; nothing is live.
  void resume_forward(const AnchorList& anchors, std::int64_t run_before);
  void resume_reverse(const AnchorList& anchors, std::int64_t steps, std::int64_t position);

  /// What the next anchors take, so that next allocates nothing: where a failure can be held.
  void make_room_for_anchors() { anchors_.make_room(); }

  /// No anchor after those that there are: the rest is reversed from RAM.
  void add_no_more_anchors();

  /// Anchor `number`, just asked for by kRestoreAnchor, and those above it cannot be restored: what
  /// starts from them starts from the one below. False: there is none.
  bool lose_anchor(std::int64_t number);

  /// After kDone: another reverse sweep. The first `anchors` anchors (>= 1) can still be restored.
  void rewind(std::int64_t anchors);

  std::int64_t steps() const { return steps_; }  ///< n, or kUnknown
  std::int64_t interval() const { return interval_; }
  /// At kDecide: 0 at an anchor.
  std::int64_t steps_since_anchor() const { return live_ - anchors_.newest_step(); }
  bool turned() const { return turned_; }
  bool may_finish(std::int64_t steps) const;  ///< is finish_forward(steps) in order?
  bool anchored() const { return options_.anchored; }
  std::int64_t slots() const { return options_.slots; }
  std::int64_t most_anchors() const { return options_.most_anchors; }
  /// Step of the anchor that the forward sweep is going towards; kUnknown if it is not.
  std::int64_t anchor_ahead() const {
    const bool ahead = phase_ == Phase::kTowardsAnchor || (phase_ == Phase::kPlace && !probing_);
    return ahead ? anchor_due_ : kUnknown;
  }
  /// No anchor follows any more: the rest is reversed from memory, or is being reversed.
  bool ends_in_ram() const { return phase_ == Phase::kReverse; }
  const AnchorList& anchors() const { return anchors_; }

  /// Advances that all actions to come will take; kUnknown while that is not fixed.
  std::int64_t advances_remaining() const;
  /// Adjoint steps to come; kUnknown while n is.
  std::int64_t adjoints_remaining() const;

 private:
  enum class Phase { kStart, kAtAnchor, kAsked, kTowardsAnchor, kPlace, kOnline, kReverse };
  struct Kept {
    std::int64_t step, slot;
    bool tape = false;
  };
  /// What the tape on top of the stack still lacks.
  enum class Pending { kNothing, kRecord, kKeepTape };

  void reserve_kept();
  Action forward_action();
  Action place_action();
  Action keep_online();
  Action online_action();
  Action reverse_action();
  Action advance(std::int64_t to, bool record = false);
  Action adjoint();
  Action turn();
  Action add_anchor();
  Action push_kept();
  Action drop_newest_kept();
  void use_interval(std::int64_t interval, std::int64_t slots);
  void enter_interval();
  void decide_or_enter();
  void turn_next();
  uint128 forward_advances_remaining() const;
  uint128 reverse_advances_remaining() const;
  uint128 gaps_between_anchors(std::int64_t count) const;
  std::int64_t free_slots() const {
    return options_.slots - 1 - (keeps_tapes() ? slots_used_ : kept_count_);
  }
  bool keeps_tapes() const { return options_.tape_units > 0; }
  Segment segment_at_live() const;
  Action place_with_tapes();
  Action finish_tape();
  const Kept& newest() const { return kept_[static_cast<std::size_t>(kept_count_ - 1)]; }
  uint128 advances_between(std::int64_t steps) const {
    return advances_from_anchor(steps, options_.slots, options_.tape_units);
  }
  uint128 reverse_advances_with_tapes() const;
  std::int64_t top_step() const;

  SequenceOptions options_;
  Phase phase_ = Phase::kStart;
  std::int64_t steps_ = kUnknown;
  std::int64_t interval_ = 0;
  std::int64_t tail_ = 0;        ///< the longest distance to the end at which no anchor follows
  std::int64_t live_ = 0;        ///< step of the live state; kUnknown if undefined
  std::int64_t target_ = 0;      ///< the state to reach: n for TURN, then the step to be adjoined
  std::int64_t anchor_due_ = 0;  ///< kTowardsAnchor, kPlace with unknown n: step of the next anchor
  bool keep_due_ = false;        ///< the live state was advanced to in order to be kept
  bool recorded_ = false;        ///< the tape of step target_ is in the caller's fields
  bool turned_ = false;
  bool swept_ = false;           ///< all steps have been run once
  std::int64_t run_before_ = 0;  ///< steps below it were run by the process before
  bool probing_ = false;         ///< kPlace: no checkpoints, only on to the next decision
  bool done_ = false;
  bool retain_ = false;  ///< every state has a slot of its own: nothing is dropped, rewind is free
  std::int64_t retained_ = 0;              ///< kept states at TURN
  std::int64_t advance_first_ = kUnknown;  ///< first step of the last action if it was kAdvance
  AnchorList anchors_;
  std::int64_t anchors_active_ = 0;  ///< of these, still needed in this reverse sweep
  std::vector<Kept> kept_;           ///< the first kept_count_ are in use; the rest hold free slots
  std::int64_t kept_count_ = 0;
  Splitter splitter_;

  MixedPlanner planner_{1, false};
  Pending pending_ = Pending::kNothing;
  std::int64_t slots_used_ = 0;  ///< by kept_, if tapes are kept

  OnlinePlacement online_;            ///< for unknown n, in places that are indices into kept_
  std::int64_t replaced_ = kUnknown;  ///< index whose slot the live state takes over next
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The sweep of all schedules whose checkpoints nest: forward, TURN, reverse, as a Planner says.
//
// Kept states and tapes are a stack. To reach the next step to be adjoined, start from the newest
// of them and place more on the way; whatever lies above that step is dropped. Reversal by Revolve
// needs no planner and is written here, once.
#pragma once

#include <cstdint>
#include <memory>

#include "schedule/stack/kept_stack.h"
#include "schedule/stack/multistage_split.h"
#include "schedule/words/sweep.h"

namespace anadrome::schedule {

struct StackOptions {
  std::int64_t steps = 0;       ///< n, or kUnknown with a planner that needs no end
  std::int64_t units = 1;       ///< RAM; with anchors that stay, without the unit of one of them
  std::int64_t disk_slots = 0;  ///< states on disk at a time
  std::int64_t tape_units = 0;  ///< of a kept tape; 0: tapes are not kept
  bool tape_restarts = false;   ///< the tape of step k holds x_{k+1}
  bool record = false;          ///< the adjoint of a step needs its tape
  /// TURN needs the live x_n, as one more step; false: the paper's problem, where the adjoint of
  /// step n-1 follows on x_{n-1}, and no TURN.
  bool turn = true;
  /// Nothing is dropped from RAM; with kept tapes x_n is kept, too: the reverse sweep can be
  /// repeated for nothing.
  bool retain = false;
  /// In the reverse sweep a state in RAM is dropped only where its slot is needed, and one that is
  /// live is kept where a slot is free: they serve a pass. Not where an interval may be reversed
  /// once more (mark).
  bool leaves_states = false;
  /// Where x_0 is kept before all else; kNowhere: where, and whether, the planner says.
  Place x_0 = Place::kNowhere;
  /// Anchors are numbered on and stay on disk when they are dropped: they can be restored after a
  /// rewind. False: what is dropped makes room for another one.
  bool anchors_stay = false;
};

class StackSweep final : public Sweep {
 public:
  /// x_0 is live. Throws ERR_ARGUMENT on options that make no sense.
  StackSweep(const StackOptions& options, std::unique_ptr<Planner> planner);

  /// Throws ERR_MEMORY where kept tapes meet the end of the units, ERR_INTERNAL if the planner
  /// breaks a rule of placement.h.
  Action next() override;

  Next decide(const Measured& measured) override;

  Course course() const override;
  std::int64_t advances_remaining() const override;

  void finish_forward(std::int64_t steps) override;

  bool lose(std::int64_t number) override;
  bool mark() override;
  void go_back() override;
  void disk_is_full(const DiskLeft& left) override;
  void disk_holds(std::int64_t anchors) override;
  void make_room_for_anchors() override { stack_.make_room_for_anchors(); }

  void rewind(std::int64_t restorable) override;
  std::optional<Remains> remains() override;

  void resume(const Middle& middle) override;

  const AnchorList& anchors() const override { return stack_.anchors(); }

  Planner& planner() { return *planner_; }

 private:
  /// What comes before all else.
  enum class Pending : std::uint8_t {
    kNothing,
    kFirst,     ///< x_0 is to be kept
    kRecord,    ///< the tape on top of the stack is to be recorded,
    kKeepTape,  ///< and kept
    kReplace,   ///< the live state takes over the place of the state replaced_
    kPush,      ///< the slot is free now in which the live state is to be kept
    kShrink,    ///< what lies above shrunk_ is to be dropped
  };

  /// Is x_0 still kept?
  bool can_rewind() const;
  Action finish_pending();
  Action turn();
  Action by_revolve();
  Action ask_planner();
  bool may_drop(const KeptStack::Entry& top) const;
  bool may_leave() const;
  bool serves_later();
  Action drop_anchor();
  Action end();
  Action advance(std::int64_t to, bool record);
  Action restore();
  Action drop_newest();
  Action push(Place place);
  Action push_anchor();
  Action push_unit();
  Action replace(std::int64_t index);
  [[noreturn]] static void throw_full_of_tapes(std::int64_t steps);
  Action keep_tape(const Segment& here);
  bool keeps_all_tapes() const { return options_.retain && options_.tape_units > 0; }

  /// The disk takes no more: above a step, what is reversed has all of the memory.
  struct Full {
    std::int64_t above = kNoLimit;  ///< kNoLimit: it is not full
    std::int64_t units = 0;
  };
  std::int64_t fewest_anchors() const;
  /// Of the steps below `end`: from the live state, and from the newest kept one to that.
  uint128 advances_above(std::int64_t end, const KeptStack::Part& kept) const;
  /// Does the plan start from the newest kept state? The disk may turn out to be full, or the
  /// anchors to end, between two kept states.
  bool starts_from_kept() const { return options_.anchors_stay && !leading(); }
  std::int64_t next_from_kept(std::int64_t end, const KeptStack::Part& kept) const;
  bool on_the_way(std::int64_t end, const KeptStack::Part& kept) const;
  const KeptStack::Part& kept() const {
    return pending_ == Pending::kShrink ? shrunk_ : stack_.all();
  }
  std::int64_t units() const { return leads_ ? planner_->usable(options_.units) : options_.units; }
  /// Those for steps up to `last`.
  std::int64_t units(std::int64_t last) const {
    return last > full_.above && !leads_ ? full_.units : units();
  }
  bool leading() const { return leads_ && planner_->leads(); }
  std::int64_t anchors_left() const {
    return options_.disk_slots - std::max<std::int64_t>(anchors().count(), 1);
  }
  void stop_leading();
  /// The question of placement.h, where so much is kept.
  Segment segment(std::int64_t first, std::int64_t last, const KeptStack::Part& kept) const;
  /// Between anchors.
  uint128 advances_of_gap(std::int64_t first, std::int64_t last) const;
  uint128 gaps_between_anchors(std::int64_t count) const;

  StackOptions options_;
  std::unique_ptr<Planner> planner_;
  Pending pending_ = Pending::kNothing;
  bool leads_ = false;  ///< the planner does
  bool turned_ = false, done_ = false;
  std::int64_t steps_;
  std::int64_t target_ = 0;       ///< the state to reach: n for TURN, then the step to be adjoined
  std::int64_t live_ = 0;         ///< step of the live state; kUnknown if undefined
  std::int64_t tape_ = kUnknown;  ///< step whose tape is in the caller's fields
  std::int64_t revolve_from_ = kMostSteps;  ///< Revolve reverses what lies above this step
  std::int64_t run_before_ = 0;             ///< steps below this one were run at least once
  std::int64_t advance_first_ = kUnknown;   ///< first step of the last action if it was an Advance
  std::size_t replaced_ = 0;
  std::size_t left_ = 0;  ///< entries that hold a slot, though some may be popped
  /// Where mark() was called.
  struct Mark {
    std::int64_t anchors = 0, live = 0, target = 0, tape = kUnknown, revolve_from = 0;
  };
  Mark mark_;
  Full full_;
  KeptStack::Part shrunk_;
  mutable Splitter splitter_;
  KeptStack stack_;
};

}  // namespace anadrome::schedule

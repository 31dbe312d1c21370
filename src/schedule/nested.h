// The actions of a sweep whose checkpoints nest, as a Planner places them: forward, TURN, reverse.
//
// Kept states and tapes are a stack. To reach the next step to be adjoined, start from the newest
// of them and place more on the way; whatever lies above that step is dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/action.h"
#include "schedule/placement.h"
#include "schedule/sequence.h"

namespace anadrome::schedule {

struct NestedOptions {
  std::int64_t steps = 0;       ///< n, or kUnknown with a planner that never asks for the end
  std::int64_t units = 1;       ///< RAM
  std::int64_t disk_slots = 0;  ///< states on disk at a time
  std::int64_t tape_units = 0;  ///< of a kept tape; 0: tapes are not kept
  bool tape_restarts = false;   ///< the tape of step k holds x_{k+1}
  bool record = false;          ///< the adjoint of a step needs its tape
  /// TURN needs the live x_n, as one more step; false: the paper's problem, where the adjoint of
  /// step n-1 follows on x_{n-1}, and no TURN.
  bool turn = true;
  /// A state that is read from disk lies in memory of its own: to keep it in RAM, too, takes a unit
  /// and no copy.
  bool disk_is_buffered = false;
  /// Drop nothing, and keep x_n, too, if there are tapes: the adjoint sweep can be repeated.
  bool retain = false;
};

class Nested {
 public:
  /// x_0 is live. Throws ERR_ARGUMENT on options that make no sense.
  Nested(const NestedOptions& options, std::unique_ptr<Planner> planner);

  /// The next action. Throws ERR_MEMORY where `retain` meets the end of the units, ERR_INTERNAL if
  /// the planner breaks a rule of placement.h.
  Action next();

  /// As in Sequence; unknown n only.
  bool may_finish(std::int64_t steps) const;
  void finish_forward(std::int64_t steps);

  /// As in Sequence: the state in disk slot `slot`.
  bool lose_anchor(std::int64_t slot);

  /// After kDone: can there be another adjoint sweep? Only where x_0 is still kept.
  bool can_rewind() const;
  void rewind();

  std::int64_t steps() const { return steps_; }  ///< n, or kUnknown
  bool turned() const { return turned_; }
  Planner& planner() { return *planner_; }
  /// Advances that all actions to come will take; kUnknown while n is, or while the
  /// planner is not ready.
  std::int64_t advances_remaining() const;
  std::int64_t adjoints_remaining() const;

 private:
  /// What the tape on top of the stack still lacks.
  enum class Pending { kNothing, kRecord, kKeepTape };
  struct Kept {
    Place place;
    std::int64_t step;  ///< of the state; or the step whose tape it is
    std::int64_t slot;  ///< its first unit, or its disk slot
    bool buffered;      ///< in RAM by what the disk state below it takes
  };

  bool towards_target(Action& action);
  Action advance(std::int64_t to, bool record);
  Action restore();
  Action drop_newest();
  Action push(Place place);
  bool keep_tape(const Segment& here, Action& action);
  const Kept& newest() const { return stack_[static_cast<std::size_t>(account_.depth - 1)]; }
  std::int64_t restarts_at(const Kept& kept) const;
  std::int64_t units_of(const Kept& kept) const;
  /// A stack that lacks its topmost entries.
  struct Account {
    std::int64_t depth, units_used, disk_slots_used;
  };
  void pop(Account& account) const;
  Segment segment(std::int64_t first, std::int64_t last, const Account& account) const;
  Segment segment(std::int64_t first, std::int64_t last) const {
    return segment(first, last, account_);
  }

  NestedOptions options_;
  std::unique_ptr<Planner> planner_;
  std::int64_t steps_;
  std::int64_t target_ = 0;       ///< the state to reach: n for TURN, then the step to be adjoined
  std::int64_t live_ = 0;         ///< step of the live state; kUnknown if undefined
  std::int64_t tape_ = kUnknown;  ///< step whose tape is in the caller's fields
  Pending pending_ = Pending::kNothing;
  bool turned_ = false, done_ = false;
  std::int64_t run_before_ = 0;            ///< steps below this one were run at least once
  std::int64_t advance_first_ = kUnknown;  ///< first step of the last action if it was kAdvance
  std::vector<Kept> stack_;                ///< the first `depth` are in use
  Account account_ = {0, 0, 0};
};

}  // namespace anadrome::schedule

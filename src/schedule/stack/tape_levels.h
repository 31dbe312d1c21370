// SPDX-License-Identifier: BSD-2-Clause
// The least advances of a reversal that keeps states and tapes in one memory, in closed form.
//
// Let x_first be kept and `units` be the memory, its own unit included, a state 1 and a tape l.
// With B_i = C(units - i l + c - 1, c - 1) for i = 0 .. units / l, the steps that c repetitions
// suffice for are reach(c) = sum_i C(units - i l + c, c), and within (reach(c-1), reach(c)] each
// further step costs c, or c + 1 if it opens a group. A group is i tapes: i l steps long, i (l - 1)
// if a tape restarts the next step, and there are B_i of them. Free steps come first, then the
// groups, the longest first. l beyond the memory leaves Revolve's formulas. docs/theory-tapes.md
// derives all this.
#pragma once

#include <cstdint>

#include "schedule/words/binomial.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

class TapeLevels {
 public:
  /// From where a chain of steps is reversed.
  struct Start {
    std::int64_t units;  ///< one more than are free, >= 1
    bool stays;          ///< x_first is on disk or comes out of a tape; false: in the one unit
  };

  /// tape_units = l >= 1.
  TapeLevels(std::int64_t tape_units, bool tape_restarts);

  uint128 advances(std::int64_t steps, const Start& start);

  /// Is the tape of the first step to be kept next, in the place of x_first unless that stays?
  bool begins_with_tape(std::int64_t steps, const Start& start);

  /// Otherwise: how far to advance before more is kept. steps >= 2.
  std::int64_t split(std::int64_t steps, const Start& start);

 private:
  /// All that reversals with `number` repetitions have in common.
  struct Level {
    std::int64_t number;
    uint128 before, end;          ///< reach(number - 1), reach(number)
    uint128 groups, group_steps;  ///< how many there are, and the steps in them
    std::int64_t first_binomial;  ///< B_0
    uint128 free_steps() const { return end - before - group_steps; }
  };
  /// How far a number of steps goes into the groups of a level.
  struct Position {
    uint128 begun;       ///< groups
    uint128 left_steps;  ///< steps in groups before the split
  };

  std::int64_t most_tapes(const Start& start) const;
  std::int64_t group_length(std::int64_t tapes) const { return tapes * (l_ - (restarts_ ? 1 : 0)); }
  bool step_is_state() const { return restarts_ && l_ == 1; }
  int try_level(std::int64_t number, std::int64_t steps, const Start& start, Level& level) const;
  void sum_first_levels(std::int64_t units, std::int64_t kinds, Level& level) const;
  Level level_of(std::int64_t steps, const Start& start);
  Position locate(uint128 offset, const Level& level, const Start& start) const;
  uint128 steps_in_groups(std::int64_t from, std::int64_t to, const Level& level,
                          std::int64_t units) const;
  uint128 groups_of(std::int64_t from, std::int64_t to, const Level& level,
                    std::int64_t units) const;

  std::int64_t l_;
  bool restarts_;
  std::int64_t hint_ = 1;
  Splitter splitter_;
};

}  // namespace anadrome::schedule

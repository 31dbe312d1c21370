// SPDX-License-Identifier: BSD-2-Clause
// The reversal of one short interval by beam search over the machine of overlapped.h: what to keep,
// what to write and what to read ahead, step by step, with the best few states of every stage kept.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/index.h"
#include "planners/lists/overlap_piece.h"

namespace anadrome::schedule {

/// An interval of so many steps and more slots than this are for other planners.
inline constexpr std::int64_t kMostBeamSteps = 120;
inline constexpr std::int64_t kMostBeamSlots = 12;

struct BeamInterval {
  std::int32_t steps = 1;
  bool has_previous = false;  ///< kPrevious is on disk, and is to be read ahead
  /// The interval ends the forward sweep: the base is in its slot only. False: the base is on disk,
  /// too, and the interval is run again.
  bool first_sweep = false;
};

struct BeamOptions {
  std::int64_t width = 16;  ///< states that are kept of a stage
  /// Advances that a step not yet reached by the first sweep will cost in the reverse one: a guess.
  double future = 1;
  /// How much the lesser of computation and transfers counts in the time still needed.
  double lesser = 0;
  /// Plans that take as long as this are not wanted.
  double most = std::numeric_limits<double>::infinity();
};

struct BeamResult {
  OverlapPiece piece;
  double duration = std::numeric_limits<double>::infinity();
  std::int64_t states = 0;  ///< visited
};

/// E(l, s) for l <= most_steps, s <= slots, as a table of doubles.
class AdvanceTable {
 public:
  AdvanceTable(std::int64_t most_steps, std::int64_t slots);
  double operator()(std::int64_t steps, std::int64_t slots) const {
    return table_[size(slots) * stride_ + size(steps)];
  }

 private:
  std::size_t stride_;
  std::vector<double> table_;
};

/// `times` with forward = 1. O(width * slots * steps^2) states, O(steps) time each.
BeamResult beam_search(const BeamInterval& interval, std::int64_t slots, const OverlapTimes& times,
                       const AdvanceTable& advances, const BeamOptions& options);

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Reversal of an interval from its anchor by Revolve, with the anchor before it read ahead: as late
// as can be, where Revolve needs a slot less. Tables for all lengths up to a limit.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/lists/overlap_piece.h"

namespace anadrome::schedule {

/// The states on disk when the reversal of an interval begins.
enum class IntervalOnDisk : std::uint8_t {
  kOnlyPrevious,     ///< the anchor before it, which is to be read
  kPreviousAndBase,  ///< and its own anchor, so that its slot can be given up and read again
  kBase,             ///< its own, and there is none before
  kNothing           ///< it is all in RAM
};

/// Appends the reversal of steps first .. last-1 by Revolve. x_first is live and in a slot, one of
/// `slots`.
void append_revolve(OverlapPiece& piece, std::int64_t first, std::int64_t last, std::int64_t slots);

class IntervalTable {
 public:
  /// `times` with forward = 1.
  IntervalTable(std::int64_t most_steps, std::int64_t slots, const OverlapTimes& times);

  std::int64_t most_steps() const { return most_steps_; }
  /// Duration from the base live and in a slot; 1 <= steps <= most_steps but for kNothing.
  double duration(std::int64_t steps, IntervalOnDisk on_disk) const;
  OverlapPiece piece(std::int64_t steps, IntervalOnDisk on_disk) const;

 private:
  double in_ram(std::int64_t steps, std::int64_t slots) const;
  void fill(std::int64_t steps);
  void append_reading(OverlapPiece& piece, std::int64_t base, std::int64_t steps,
                      std::int32_t previous) const;

  std::int64_t most_steps_, slots_;
  OverlapTimes times_;
  /// By steps: durations, and the first split, 0 for none.
  std::vector<double> all_slots_, one_less_, reading_, reading_again_, last_again_;
  std::vector<std::int32_t> reading_split_, reading_again_split_, last_again_split_;
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Reversal of an interval from its anchor by Revolve, with the anchor before it read ahead: as late
// as can be, where Revolve needs a slot less. Tables for all lengths up to a limit. And where
// anchors go on a long chain: intervals of one or two lengths, then the tail that is entered
// directly.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/index.h"
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

struct AnchorLayout {
  std::int64_t intervals = 0;  ///< m
  std::int64_t shorter = 0;    ///< their lengths: all of one or the other,
  std::int64_t longer = 0;
  std::int64_t longer_count = 0;  ///< these mixed in evenly
  std::int64_t tail = 0;          ///< steps from the last anchor on
  double expected = 0;            ///< duration of the whole

  /// Lengths of the intervals, the first one first, and of the tail.
  std::vector<std::int64_t> lengths() const;
};

class LayoutSearch {
 public:
  /// `times` with forward = 1.
  LayoutSearch(std::int64_t steps, std::int64_t slots, const OverlapTimes& times);

  /// The best layouts for the pieces known, the best one first, if so many writes can wait for the
  /// end of the first sweep at no cost: a guess, better found out by playing them.
  std::vector<AnchorLayout> best(std::size_t most, std::int64_t waiting) const;

  std::int64_t longest() const { return table_.most_steps(); }
  double interval_duration(std::int64_t steps) const { return interval_[at(steps)]; }
  double tail_duration(std::int64_t steps) const { return tail_[at(steps)]; }
  /// A better piece was found.
  void use_interval(std::int64_t steps, double duration, OverlapPiece piece);
  void use_tail(std::int64_t steps, double duration, OverlapPiece piece);

  /// Plays intervals of these lengths, the tail last.
  void play(const std::vector<std::int64_t>& lengths, Timeline& timeline);

 private:
  void find_hull();
  AnchorLayout layout(std::int64_t intervals, std::int64_t tail, std::int64_t waiting) const;
  const OverlapPiece& piece(std::map<std::int64_t, OverlapPiece>& known, std::int64_t steps,
                            IntervalOnDisk on_disk) const;

  std::int64_t steps_;
  OverlapTimes times_;
  IntervalTable table_;
  std::vector<double> interval_, tail_;  ///< durations, by steps
  /// By steps: better than the table's, or asked for before.
  std::map<std::int64_t, OverlapPiece> interval_piece_, tail_piece_, first_piece_;
  std::vector<std::int64_t> hull_;  ///< lengths on the lower convex hull of interval_
};

}  // namespace anadrome::schedule

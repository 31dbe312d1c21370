// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlap_interval.h"

#include <gtest/gtest.h>

#include "overlap_played.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

TEST(IntervalTable, TellsWhatItsPiecesTake) {
  for (std::int64_t slots = 1; slots <= 6; ++slots) {
    for (const double read : {0.0, 3.0, 17.5, 200.0}) {
      const OverlapTimes times{1, 1.5, 4, read};
      const IntervalTable table(48, slots, times);
      for (std::int64_t steps = 1; steps <= 48; ++steps) {
        for (const IntervalOnDisk on_disk :
             {IntervalOnDisk::kOnlyPrevious, IntervalOnDisk::kPreviousAndBase}) {
          const bool again = on_disk == IntervalOnDisk::kPreviousAndBase;
          ASSERT_DOUBLE_EQ(played(table.piece(steps, on_disk), slots, times, again),
                           table.duration(steps, on_disk))
              << steps << " steps, " << slots << " slots, read " << read << ", again " << again;
        }
      }
    }
  }
}

TEST(IntervalTable, ReadsNothingForNothingIfTheReadIsShort) {
  const IntervalTable table(100, 5, {1, 2, 0, 1});
  for (std::int64_t steps = 1; steps <= 100; ++steps) {
    EXPECT_LE(table.duration(steps, IntervalOnDisk::kOnlyPrevious),
              static_cast<double>(extra_advances(steps, 5)) + 2.0 * static_cast<double>(steps) + 1);
  }
}

TEST(IntervalTable, AnAnchorThatCanBeReadAgainIsNoBurden) {
  const IntervalTable table(200, 3, {1, 2, 8, 8});
  for (std::int64_t steps = 1; steps <= 200; ++steps) {
    ASSERT_LE(table.duration(steps, IntervalOnDisk::kPreviousAndBase),
              table.duration(steps, IntervalOnDisk::kOnlyPrevious));
  }
  EXPECT_LT(table.duration(40, IntervalOnDisk::kPreviousAndBase),
            table.duration(40, IntervalOnDisk::kOnlyPrevious));
}

}  // namespace
}  // namespace anadrome::schedule

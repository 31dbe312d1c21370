// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlap_beam.h"

#include <gtest/gtest.h>

#include "overlap_played.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

TEST(BeamSearch, TellsWhatItsPieceTakes) {
  for (std::int64_t slots = 1; slots <= 5; ++slots) {
    const AdvanceTable advances(21, slots);
    for (std::int32_t steps = 1; steps <= 20; ++steps) {
      const OverlapTimes times{1, 2, 0, 6.5};
      BeamOptions options;
      options.width = 40;
      const BeamResult found = beam_search({steps, true, false}, slots, times, advances, options);
      ASSERT_DOUBLE_EQ(played(found.piece, slots, times, true), found.duration)
          << steps << " steps, " << slots << " slots";
    }
  }
}

TEST(BeamSearch, VisitsNoMoreStatesThanItsWidthForEveryStage) {
  const AdvanceTable advances(31, 4);
  for (const std::int64_t width : {1, 10, 100}) {
    BeamOptions options;
    options.width = width;
    const BeamResult found = beam_search({30, true, true}, 4, {1, 2, 8, 8}, advances, options);
    EXPECT_LE(found.states, width * 31 * 32 / 2) << width;
  }
}

TEST(BeamSearch, BeatsRevolveInsideAnIntervalByWhatTheDiskCanTake) {
  const OverlapTimes times{1, 2, 16, 16};
  const AdvanceTable advances(17, 4);
  BeamOptions options;
  options.width = 300;
  const BeamResult found = beam_search({16, true, false}, 4, times, advances, options);
  EXPECT_LT(found.duration, static_cast<double>(extra_advances(16, 4)) + 16 * times.adjoint);
}

TEST(BeamSearch, FindsNothingThatIsNotWanted) {
  const AdvanceTable advances(11, 2);
  BeamOptions options;
  options.most = 29;  // nine advances and ten adjoints take as long
  EXPECT_TRUE(beam_search({10, false, true}, 2, {1, 2, 1, 1}, advances, options).piece.empty());
}

}  // namespace
}  // namespace anadrome::schedule

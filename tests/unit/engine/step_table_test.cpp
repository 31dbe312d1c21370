// SPDX-License-Identifier: BSD-2-Clause
#include "engine/step_table.h"

#include <gtest/gtest.h>

#include <array>

#include "thread_ranks.h"

namespace anadrome::engine {
namespace {

using Values = std::vector<double>;

TEST(StepTable, TakesWhatTheCallerGaveBeforeWhatWasMeasured) {
  ThreadRanks::run(1, [](Ranks& ranks) {
    StepTable table;
    table.begin(2, true);
    ASSERT_TRUE(table.measuring());
    table.add(0, 3);
    table.add(1, 4);
    table.finish(ranks);
    table.begin(2, true);
    EXPECT_EQ(table.values(), (Values{3, 4}));
    EXPECT_TRUE(table.measured());
    table.give(Values{5, 6});
    table.begin(2, true);
    EXPECT_EQ(table.values(), (Values{5, 6}));
    EXPECT_FALSE(table.measured());
  });
}

TEST(StepTable, MeasuresAgainForAnotherNumberOfSteps) {
  StepTable table;
  table.give(Values{5, 6});
  table.begin(3, true);
  EXPECT_TRUE(table.measuring());
  EXPECT_FALSE(table.known());
}

TEST(StepTable, IsNeitherKnownNorMeasuredWhereNobodyWantsIt) {
  StepTable table;
  table.give(Values{5, 6});
  table.begin(2, false);
  EXPECT_FALSE(table.measuring());
  EXPECT_FALSE(table.known());
}

TEST(StepTable, HoldsTheLargestOfAnyRank) {
  std::array<Values, 2> values;
  ThreadRanks::run(2, [&](Ranks& ranks) {
    const bool first = ranks.rank() == 0;
    StepTable table;
    table.give(first ? Values{1, 9} : Values{2, 3});
    table.begin(2, true);
    table.share(ranks);
    values[first ? 0 : 1] = table.values();
  });
  for (const Values& all : values) EXPECT_EQ(all, (Values{2, 9}));
}

}  // namespace
}  // namespace anadrome::engine

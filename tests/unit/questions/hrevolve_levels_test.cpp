// SPDX-License-Identifier: BSD-2-Clause
#include "questions/hrevolve_levels.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "base/error.h"
#include "schedule/hrevolve.h"
#include "two_tier_search.h"

namespace anadrome::questions {
namespace {

using namespace schedule;

TEST(HRevolveLevels, CostTheLeastThatAnExhaustiveSearchFinds) {
  const std::vector<std::vector<StorageLevel>> costs = {
      {{1, 1, 1}, {1, 3, 2}}, {{1, 0, 1}, {2, 1, 1}}, {{2, 1, 0}, {1, 1, 4}},
      {{1, 2, 2}, {1, 2, 2}}, {{0, 1, 1}, {2, 2, 1}}, {{1, 1, 2}, {0, 1, 9}}};
  for (const std::vector<StorageLevel>& levels : costs) {
    for (const std::int64_t advance : {1, 3}) {
      for (int n = 1; n <= 7; ++n) {
        for (std::int64_t c = 0; c <= 2; ++c) {
          ASSERT_EQ(hrevolve_cost(n, c, levels, advance, 2),
                    static_cast<uint128>(least_cost_by_search(n, c, levels, advance, 2)))
              << "n " << n << ", RAM " << c << ", level 1 " << levels[0].slots;
        }
      }
    }
  }
}

RC_GTEST_PROP(HRevolveLevels, CostWhatTheRecurrenceCosts, ()) {
  const std::int64_t n = *rc::gen::inRange<std::int64_t>(1, 200);
  const std::int64_t c = *rc::gen::inRange<std::int64_t>(0, 4);
  std::vector<StorageLevel> levels;
  std::int64_t write = 0, read = 0;
  for (int k = 0; k < 3; ++k) {
    write += *rc::gen::inRange<std::int64_t>(0, 20);
    read += *rc::gen::inRange<std::int64_t>(0, 20);
    levels.push_back({*rc::gen::inRange<std::int64_t>(k == 0 ? 1 : 0, 4), write, read});
  }
  const std::int64_t advance = *rc::gen::inRange<std::int64_t>(0, 9);
  RC_ASSERT(hrevolve_cost(n, c, levels, advance, 0) ==
            static_cast<uint128>(costs_by_recurrence(n, c, levels, advance).back()));
}

RC_GTEST_PROP(HRevolveLevels, CostWhatThePlanCostsIfThereIsOne, ()) {
  const std::int64_t n = *rc::gen::inRange<std::int64_t>(1, 400);
  const std::int64_t c = *rc::gen::inRange<std::int64_t>(0, 7);
  const std::int64_t d = *rc::gen::inRange<std::int64_t>(1, 7);
  const TwoTierCosts costs{*rc::gen::inRange<std::int64_t>(0, 30), 2,
                           *rc::gen::inRange<std::int64_t>(0, 1000),
                           *rc::gen::inRange<std::int64_t>(0, 1000)};
  const std::vector<StorageLevel> disk = {{d, costs.write, costs.read}};
  RC_ASSERT(hrevolve_cost(n, c, disk, costs.advance, 2) == HRevolvePlanner(n, c, d, costs).cost());
}

TEST(HRevolveLevels, RefuseWhatTakesTooLong) {
  const std::vector<StorageLevel> wrong = {{1, 2, 2}, {1, 2, 1}};
  EXPECT_THROW(hrevolve_cost(5, 1, wrong, 1, 1), Error);
  const std::vector<StorageLevel> endless = {{kMostSteps, 2, 2}};
  EXPECT_THROW(hrevolve_cost(kMostSteps, 1, endless, 1, 1), Error);
}

}  // namespace
}  // namespace anadrome::questions

// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/words/anchor_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace anadrome::schedule {
namespace {

void expect_same(const AnchorList& list, const std::vector<std::int64_t>& steps) {
  ASSERT_EQ(list.count(), static_cast<std::int64_t>(steps.size()));
  ASSERT_EQ(list.empty(), steps.empty());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    ASSERT_EQ(list.step(static_cast<std::int64_t>(i)), steps[i]) << "anchor " << i;
  }
  const std::int64_t newest = steps.empty() ? -1 : steps.back();
  ASSERT_TRUE(steps.empty() || list.newest_step() == newest);
  for (std::int64_t step = 0; step <= newest + 2; ++step) {
    const auto above = std::upper_bound(steps.begin(), steps.end(), step);
    ASSERT_EQ(list.count_up_to(step), above - steps.begin()) << "step " << step;
  }
}

TEST(AnchorList, TakesOneStretchForEqualDistances) {
  AnchorList list;
  for (std::int64_t i = 0; i < 100000; ++i) list.append(7 * i);
  EXPECT_EQ(list.stretches().size(), 1u);
  list = {};
  for (const std::int64_t step : {0, 10, 20, 25, 30, 35}) list.append(step);
  ASSERT_EQ(list.stretches().size(), 2u);
  EXPECT_EQ(list.stretches()[0].spacing, 10);
  EXPECT_EQ(list.stretches()[1].number, 3);
  EXPECT_EQ(list.stretches()[1].step, 25);
  EXPECT_EQ(list.stretches()[1].spacing, 5);
  list.truncate(1);
  list.append(3);
  list.append(6);
  expect_same(list, {0, 3, 6});
  EXPECT_EQ(list.stretches().size(), 1u);
}

TEST(AnchorList, MatchesAPlainListThroughRandomAppendsAndTruncations) {
  std::mt19937_64 random(1806);
  for (int trial = 0; trial < 100; ++trial) {
    AnchorList list;
    std::vector<std::int64_t> steps;
    for (int change = 0; change < 60; ++change) {
      if (random() % 8 == 0) {
        const std::uint64_t left = random() % (steps.size() + 3);  // or more than there are
        list.truncate(static_cast<std::int64_t>(left));
        steps.resize(std::min<std::size_t>(left, steps.size()));
      } else {
        const std::int64_t distance = 1 + static_cast<std::int64_t>(random() % 3);
        const std::int64_t step = steps.empty() ? 0 : steps.back() + distance;
        list.append(step);
        steps.push_back(step);
      }
      ASSERT_NO_FATAL_FAILURE(expect_same(list, steps));
    }
  }
}

}  // namespace
}  // namespace anadrome::schedule

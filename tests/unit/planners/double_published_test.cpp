// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/double_sweep.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>

#include "base/error.h"
#include "reference_table.h"
#include "replay.h"

namespace anadrome::schedule {
namespace {

TEST(DoublePublished, AgreesWithTheTable) {
  const auto rows = reference_cells("planners/double_small.csv");
  ASSERT_GT(rows.size(), 40u);
  for (const auto& row : rows) {
    const std::int64_t n = std::stoll(row[0]);
    const DoubleSweep sweep = double_sweep(n, std::stoll(row[1]), std::stoll(row[2]));
    EXPECT_EQ(sweep.full.local_units, std::stoll(row[3])) << n << " " << row[1];
    EXPECT_EQ(static_cast<std::int64_t>(forwards_of(sweep)), std::stoll(row[4]))
        << n << " " << row[1];
  }
}

TEST(DoublePublished, IsFoundAtOnceHoweverLong) {
  EXPECT_EQ(double_sweep(1000000007, 99991, 3).intervals, 10001);
  EXPECT_THROW(double_sweep(5, 0, 1), Error);
  EXPECT_THROW(double_sweep(0, 5, 1), Error);
  EXPECT_THROW(double_sweep(std::int64_t{1} << 60, std::int64_t{1} << 60, 2), Error);
}

RC_GTEST_PROP(DoublePublished, TakesWhatItPromises, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 400);
  const auto length = *rc::gen::inRange<std::int64_t>(1, 90);
  const auto tape = *rc::gen::inRange<std::int64_t>(1, 6);
  const DoubleSweep sweep = double_sweep(n, length, tape);
  StackOptions options = {.steps = n,
                          .units = sweep.full.local_units,
                          .disk_slots = sweep.intervals,
                          .tape_units = tape};
  options.tape_restarts = *rc::gen::arbitrary<bool>();
  options.record = true;
  const Taken totals = replay(options, std::make_unique<DoublePlanner>(sweep));
  // The last interval is entered on the way forward.
  RC_ASSERT(totals.recorded + totals.advances ==
            static_cast<std::int64_t>(forwards_of(sweep)) - sweep.last.steps);
  RC_ASSERT(totals.recorded + totals.advances <= 3 * n);
  // A last interval of one step is nothing to come back to.
  RC_ASSERT(totals.anchors == sweep.intervals - (sweep.last.steps == 1 ? 1 : 0));
  RC_ASSERT(totals.anchor_restores <= totals.anchors);
}

}  // namespace
}  // namespace anadrome::schedule

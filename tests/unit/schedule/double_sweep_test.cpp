#include "schedule/double_sweep.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>

#include "base/error.h"
#include "nested_replay.h"
#include "reference_table.h"

namespace anadrome::schedule {
namespace {

TEST(DoubleInterval, AgreesWithTheTable) {
  const auto rows = reference_rows("planners/double_inner_small.csv", 4);
  ASSERT_GT(rows.size(), 15u);
  for (const auto& row : rows) {
    const DoubleInterval interval = best_double_interval(row[0], row[1]);
    EXPECT_EQ(interval.local_units, row[2]) << row[0] << " " << row[1];
    EXPECT_EQ(interval.forwards(), row[3]) << row[0] << " " << row[1];
  }
}

TEST(DoubleSweep, AgreesWithTheTable) {
  const auto rows = reference_cells("planners/double_small.csv");
  ASSERT_GT(rows.size(), 40u);
  for (const auto& row : rows) {
    const std::int64_t n = std::stoll(row[0]);
    const DoubleSweep sweep = double_sweep(n, std::stoll(row[1]), std::stoll(row[2]));
    EXPECT_EQ(sweep.local_units(), std::stoll(row[3])) << n << " " << row[1];
    EXPECT_EQ(static_cast<std::int64_t>(sweep.forwards()), std::stoll(row[4]))
        << n << " " << row[1];
  }
}

/// All ways to cut an interval into parts: the least memory, then the fewest forward steps.
std::pair<std::int64_t, std::int64_t> best_of_all_cuts(std::int64_t steps, std::int64_t tape) {
  std::pair<std::int64_t, std::int64_t> best{std::int64_t{1} << 40, 0};
  const std::function<void(std::int64_t, std::int64_t, std::int64_t)> cut =
      [&](std::int64_t left, std::int64_t parts, std::int64_t longest) {
        for (std::int64_t part = 1; part <= left; ++part) {
          const std::int64_t most = std::max(longest, part);
          if (part < left) {
            cut(left - part, parts + 1, most);
          } else {
            best = std::min(best, {parts + 1 + tape * most, 2 * steps - part});
          }
        }
      };
  cut(steps, 0, 0);
  return best;
}

TEST(DoubleInterval, IsTheBestOfAllCuts) {
  for (std::int64_t steps = 1; steps <= 14; ++steps) {
    for (std::int64_t tape = 1; tape <= 6; ++tape) {
      const DoubleInterval interval = best_double_interval(steps, tape);
      EXPECT_EQ(std::pair(interval.local_units, interval.forwards()), best_of_all_cuts(steps, tape))
          << steps << " " << tape;
    }
  }
}

TEST(DoubleInterval, IsTheBestOfAllLengthsOfAPart) {
  for (const std::int64_t tape : {1, 2, 7, 50}) {
    for (std::int64_t steps = 1; steps <= 700; ++steps) {
      std::int64_t least = std::int64_t{1} << 40, longest = 0;
      for (std::int64_t part = 1; part <= steps; ++part) {
        const std::int64_t units = (steps + part - 1) / part + tape * part;
        if (units <= least) longest = part;
        least = std::min(least, units);
      }
      const DoubleInterval interval = best_double_interval(steps, tape);
      ASSERT_EQ(interval.local_units, least);
      ASSERT_EQ(interval.part, longest);
      for (const std::int64_t more : {0, 1, 5, 60, 5000}) {
        std::int64_t within = 0;
        for (std::int64_t part = 1; part <= steps; ++part) {
          if ((steps + part - 1) / part + tape * part <= least + more) within = part;
        }
        ASSERT_EQ(double_interval_within(steps, tape, least + more).part, within)
            << steps << " " << tape << " " << more;
      }
    }
  }
}

TEST(DoubleInterval, IsFoundAtOnceHoweverLong) {
  const DoubleInterval interval = best_double_interval(std::int64_t{1} << 60, 1);
  EXPECT_EQ(interval.local_units, std::int64_t{1} << 31);
  EXPECT_THROW(best_double_interval(std::int64_t{1} << 60, 2), Error);
  EXPECT_THROW(best_double_interval(0, 1), Error);
  EXPECT_THROW(best_double_interval(5, 0), Error);
  EXPECT_THROW(double_interval_within(9, 1, 5), Error);
  EXPECT_EQ(double_sweep(1000000007, 99991, 3).intervals, 10001);
}

TEST(DoubleInterval, IsAsShortAsTransfersAndRoomAllow) {
  EXPECT_EQ(double_interval(1000, 10, 1000), 10);
  EXPECT_EQ(double_interval(1000, 10, 30), 34);
  EXPECT_EQ(double_interval(5, 10, 30), 5);
  EXPECT_THROW(double_interval(5, 0, 30), Error);
  EXPECT_THROW(double_interval(5, 1, 0), Error);
}

RC_GTEST_PROP(DoublePlanner, TakesWhatItPromises, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 400);
  const auto length = *rc::gen::inRange<std::int64_t>(1, 90);
  const auto tape = *rc::gen::inRange<std::int64_t>(1, 6);
  const DoubleSweep sweep = double_sweep(n, length, tape);
  NestedOptions options;
  options.steps = n;
  options.units = sweep.local_units();
  options.disk_slots = sweep.off_chip_states();
  options.tape_units = tape;
  options.tape_restarts = *rc::gen::arbitrary<bool>();
  options.record = true;
  const NestedTotals totals = replay(options, std::make_unique<DoublePlanner>(sweep));
  // The last interval is entered on the way forward.
  RC_ASSERT(totals.recorded + totals.advances ==
            static_cast<std::int64_t>(sweep.forwards()) - sweep.last.steps);
  RC_ASSERT(totals.recorded + totals.advances <= 3 * n);
  // A last interval of one step is nothing to come back to.
  RC_ASSERT(totals.writes == sweep.intervals - (sweep.last.steps == 1 ? 1 : 0));
  RC_ASSERT(totals.reads <= totals.writes);
}

}  // namespace
}  // namespace anadrome::schedule

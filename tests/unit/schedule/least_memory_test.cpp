#include "schedule/least_memory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "reference_table.h"
#include "replay.h"

namespace anadrome::schedule {
namespace {

constexpr Accounting kBoth[] = {Accounting::kStatic, Accounting::kReleased};
constexpr Accounting kAll[] = {Accounting::kStatic, Accounting::kReleased, Accounting::kPlayed};

TEST(LeastMemory, AgreesWithTheTable) {
  const auto rows = reference_cells("planners/hong_small.csv");
  ASSERT_GE(rows.size(), 30u);
  for (const auto& row : rows) {
    const ChainSizes sizes{integers_in(row[0]), {}};
    const std::int64_t peaks[] = {std::stoll(row[2]), std::stoll(row[4])};
    for (const Accounting accounting : kBoth) {
      const LeastMemory found = least_memory(sizes, accounting);
      EXPECT_EQ(found.peak, peaks[static_cast<std::size_t>(accounting)]) << row[0];
      EXPECT_EQ(found.lower_bound, found.peak) << row[0];
      EXPECT_EQ(peak_of(sizes, accounting, found.kept), found.peak) << row[0];
    }
  }
}

RC_GTEST_PROP(LeastMemory, IsTheBestOfAllChoices, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 10);
  ChainSizes sizes;
  sizes.bytes =
      *rc::gen::container<std::vector<std::int64_t>>(n + 1, rc::gen::inRange<std::int64_t>(0, 12));
  if (*rc::gen::arbitrary<bool>()) {
    sizes.workspace =
        *rc::gen::container<std::vector<std::int64_t>>(n, rc::gen::inRange<std::int64_t>(0, 12));
  }
  for (const Accounting accounting : kAll) {
    std::int64_t best = std::int64_t{1} << 40;
    for (std::size_t set = 0; set < std::size_t{1} << (n - 1); ++set) {
      std::vector<std::int64_t> kept;
      for (std::size_t k = 1; k < n; ++k) {
        if ((set >> (k - 1) & 1) != 0) kept.push_back(static_cast<std::int64_t>(k));
      }
      best = std::min(best, peak_of(sizes, accounting, kept));
    }
    const LeastMemory found = least_memory(sizes, accounting);
    RC_ASSERT(found.peak == best);
    RC_ASSERT(peak_of(sizes, accounting, found.kept) == best);
  }
}

// The accountings by hand, since the search above relies on them. Sizes 1 2 3 4 5, x_2 kept.
TEST(LeastMemory, CountsWhatIsThere) {
  const ChainSizes sizes{{1, 2, 3, 4, 5}, {}};
  EXPECT_EQ(peak_of(sizes, Accounting::kStatic, {2}), 1 + 3 + (4 + 5));
  EXPECT_EQ(peak_of(sizes, Accounting::kReleased, {2}), 1 + 3 + (4 + 5));
  EXPECT_EQ(peak_of(sizes, Accounting::kReleased, {3}), 1 + 2 + 3 + 4 + 0 * 5);
  EXPECT_EQ(peak_of(sizes, Accounting::kStatic, {3}), 1 + 4 + 5);
  const ChainSizes with_workspace{{1, 2, 3, 4, 5}, {0, 7, 0, 1}};
  EXPECT_EQ(peak_of(with_workspace, Accounting::kStatic, {2}), 1 + 3 + std::max(2 + 7, 9 + 1));
  EXPECT_EQ(peak_of(with_workspace, Accounting::kReleased, {2}),
            std::max(1 + 2 + 3 + 7, 1 + 3 + 9 + 1));
}

TEST(LeastMemory, IsTheClosedFormWhereAllStatesAreAlike) {
  for (std::int64_t n = 1; n < 200; ++n) {
    const ChainSizes sizes{std::vector<std::int64_t>(static_cast<std::size_t>(n + 1), 1), {}};
    std::int64_t released = 2;
    while (released * (released - 1) / 2 < n) ++released;
    EXPECT_EQ(least_memory(sizes, Accounting::kReleased).peak, released) << n;
    std::int64_t unchanged = n + 1;
    for (std::int64_t m = 0; m < n; ++m) {
      unchanged = std::min(unchanged, 1 + m + (n - m + m) / (m + 1));
    }
    EXPECT_EQ(least_memory(sizes, Accounting::kStatic).peak, unchanged) << n;
  }
}

std::vector<std::int64_t> random_sizes(std::size_t count) {
  std::vector<std::int64_t> sizes;
  std::uint32_t x = 12345;
  while (sizes.size() < count) {
    x = 1103515245U * x + 12345U;
    sizes.push_back(1000000 + (x >> 8) % 2000000);
  }
  return sizes;
}

TEST(LeastMemory, SaysHowFarItMayBeFromTheOptimumIfItIsStopped) {
  const ChainSizes sizes{random_sizes(5000), {}};
  const LeastMemory best = least_memory(sizes, Accounting::kStatic);
  EXPECT_EQ(best.lower_bound, best.peak);
  const LeastMemory stopped = least_memory(sizes, Accounting::kStatic, 1);
  EXPECT_LT(stopped.lower_bound, stopped.peak);
  EXPECT_LE(stopped.lower_bound, best.peak);
  EXPECT_GE(stopped.peak, best.peak);
}

TEST(LeastMemory, RefusesWhatIsNoChain) {
  const auto refuses = [](const ChainSizes& sizes) {
    EXPECT_THROW(least_memory(sizes, Accounting::kReleased), Error);
  };
  refuses({{}, {}});
  refuses({{1}, {}});
  refuses({{1, -1}, {}});
  refuses({{1, 2}, {1, 2}});
  refuses({{std::int64_t{1} << 62, std::int64_t{1} << 62}, {}});
}

RC_GTEST_PROP(LeastMemoryPlanner, StaysWithinThePeakAndRunsNoStepThreeTimes, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 200);
  ChainSizes sizes;
  sizes.bytes =
      *rc::gen::container<std::vector<std::int64_t>>(n + 1, rc::gen::inRange<std::int64_t>(1, 50));
  const auto accounting = *rc::gen::element(Accounting::kStatic, Accounting::kReleased);
  const LeastMemory found = least_memory(sizes, accounting);
  StackOptions options;
  options.steps = static_cast<std::int64_t>(n);
  options.units = found.peak;
  options.turn = *rc::gen::arbitrary<bool>();
  const Taken totals =
      replay(options, std::make_unique<LeastMemoryPlanner>(sizes.bytes, found.kept));
  RC_ASSERT(totals.advances <= 2 * options.steps);
  RC_ASSERT(totals.most_units <= found.peak);
}

// In a run TURN is a step of the chain, unless it is a tape that an adjoint step needs.
RC_GTEST_PROP(LeastMemoryPlanner, TakesNoMoreThanIsPlayed, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 100);
  StackOptions options;
  options.steps = static_cast<std::int64_t>(n);
  options.record = *rc::gen::arbitrary<bool>();
  ChainSizes sizes;
  sizes.bytes =
      *rc::gen::container<std::vector<std::int64_t>>(n + 1, rc::gen::inRange<std::int64_t>(1, 50));
  if (!options.record) sizes.bytes.push_back(0);
  const LeastMemory found = least_memory(sizes, Accounting::kPlayed);
  options.units = found.peak;
  const Taken totals =
      replay(options, std::make_unique<LeastMemoryPlanner>(sizes.bytes, found.kept));
  RC_ASSERT(totals.most_units <= found.peak);
  RC_ASSERT(found.peak - totals.most_units <= 50);  // the last state, where it is kept
  RC_ASSERT(totals.advances <= 2 * options.steps);
}

TEST(LeastMemory, OfEqualStatesInARunIsTheClosedForm) {
  for (std::int64_t steps = 1; steps < 200; ++steps) {
    const ChainSizes sizes{std::vector<std::int64_t>(static_cast<std::size_t>(steps + 1), 1), {}};
    EXPECT_EQ(least_slots(steps), least_memory(sizes, Accounting::kPlayed).peak) << steps;
  }
  EXPECT_EQ(least_slots(5), 2);
  EXPECT_EQ(least_slots(std::int64_t{1} << 20), 1447);
}

}  // namespace
}  // namespace anadrome::schedule

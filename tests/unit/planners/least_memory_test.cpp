// SPDX-License-Identifier: BSD-2-Clause
// The least memory in which no step is run more than twice, however it is accounted for.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/index.h"
#include "planners/memory/least_memory.h"
#include "replay.h"

namespace anadrome::schedule {
namespace {

// visit(begin, end) for every segment between kept states.
template <class Visit>
void each_segment(const ChainSizes& sizes, const std::vector<std::int64_t>& kept,
                  const Visit& visit) {
  std::int64_t begin = 0;
  for (std::size_t i = 0; i <= kept.size(); ++i) {
    const std::int64_t end = i == kept.size() ? sizes.steps() : kept[i];
    visit(begin, end);
    begin = end;
  }
}

std::int64_t sum(const ChainSizes& sizes, std::int64_t first, std::int64_t end) {
  std::int64_t bytes = 0;
  for (std::int64_t k = first; k < end; ++k) bytes += sizes.bytes[at(k)];
  return bytes;
}

/// The peak of a choice, rising, without x_0: where kept states stay.
std::int64_t static_peak_of(const ChainSizes& sizes, const std::vector<std::int64_t>& kept) {
  std::int64_t held = sizes.bytes[0], largest = 0;
  for (const std::int64_t k : kept) held += sizes.bytes[at(k)];
  each_segment(sizes, kept, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t last = end == sizes.steps() ? end + 1 : end;
    largest = std::max(largest, sum(sizes, begin + 1, last));
  });
  return held + largest;
}

/// And as `accounting` says it.
std::int64_t peak_of(const ChainSizes& sizes, Accounting accounting,
                     const std::vector<std::int64_t>& kept) {
  std::int64_t held = sizes.bytes[0], peak = 0;
  each_segment(sizes, kept, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t last = accounting == Accounting::kReleased ? end + 1 : end - 1;
    peak = std::max(peak, held + sum(sizes, begin + 1, last));
    held += sizes.bytes[at(end)];
  });
  return peak;
}

struct Account {
  LeastMemory (*least)(const ChainSizes&);
  std::int64_t (*peak)(const ChainSizes&, const std::vector<std::int64_t>& kept);
};

template <Accounting accounting>
constexpr Account kGivenUp = {
    [](const ChainSizes& sizes) { return least_memory(sizes, accounting); },
    [](const ChainSizes& sizes, const std::vector<std::int64_t>& kept) {
      return peak_of(sizes, accounting, kept);
    }};
constexpr Account kStatic = {[](const ChainSizes& sizes) { return least_static_memory(sizes); },
                             static_peak_of};
constexpr Account kAll[] = {kStatic, kGivenUp<Accounting::kReleased>,
                            kGivenUp<Accounting::kPlayed>};

RC_GTEST_PROP(StaticMemory, AndTheOthersAreTheBestOfAllChoices, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 10);
  ChainSizes sizes;
  sizes.bytes =
      *rc::gen::container<std::vector<std::int64_t>>(n + 1, rc::gen::inRange<std::int64_t>(0, 12));
  for (const Account& account : kAll) {
    std::int64_t best = std::int64_t{1} << 40;
    for (std::size_t set = 0; set < std::size_t{1} << (n - 1); ++set) {
      std::vector<std::int64_t> kept;
      for (std::size_t k = 1; k < n; ++k) {
        if ((set >> (k - 1) & 1) != 0) kept.push_back(static_cast<std::int64_t>(k));
      }
      best = std::min(best, account.peak(sizes, kept));
    }
    const LeastMemory found = account.least(sizes);
    RC_ASSERT(found.peak == best);
    RC_ASSERT(found.lower_bound == best);
    RC_ASSERT(account.peak(sizes, found.kept) == best);
  }
}

// The accountings by hand, since the search above relies on them. Sizes 1 2 3 4 5, x_2 kept.
TEST(StaticMemory, AndTheOthersCountWhatIsThere) {
  const ChainSizes sizes{{1, 2, 3, 4, 5}};
  EXPECT_EQ(static_peak_of(sizes, {2}), 1 + 3 + (4 + 5));
  EXPECT_EQ(peak_of(sizes, Accounting::kReleased, {2}), 1 + 3 + (4 + 5));
  EXPECT_EQ(peak_of(sizes, Accounting::kReleased, {3}), 1 + 2 + 3 + 4 + 0 * 5);
  EXPECT_EQ(static_peak_of(sizes, {3}), 1 + 4 + 5);
}

TEST(LeastMemory, IsTheClosedFormWhereAllStatesAreAlike) {
  for (std::int64_t n = 1; n < 200; ++n) {
    const ChainSizes sizes{std::vector<std::int64_t>(static_cast<std::size_t>(n + 1), 1)};
    std::int64_t least = n + 1, released = 2;
    for (std::int64_t m = 0; m < n; ++m) least = std::min(least, 1 + m + (n - m + m) / (m + 1));
    while (released * (released - 1) / 2 < n) ++released;
    EXPECT_EQ(least_static_memory(sizes).peak, least) << n;
    EXPECT_EQ(least_memory(sizes, Accounting::kReleased).peak, released) << n;
    EXPECT_EQ(least_memory(sizes, Accounting::kPlayed).peak, least_slots(n)) << n;
  }
  EXPECT_EQ(least_slots(5), 2);
  EXPECT_EQ(least_slots(std::int64_t{1} << 20), 1447);
}

TEST(StaticMemory, SaysHowFarItMayBeFromTheOptimumIfItIsStopped) {
  ChainSizes sizes;
  std::uint32_t x = 12345;
  while (sizes.bytes.size() < 3000) {
    x = 1103515245U * x + 12345U;
    sizes.bytes.push_back(1000000 + (x >> 8) % 2000000);
  }
  const LeastMemory best = least_static_memory(sizes);
  EXPECT_EQ(best.lower_bound, best.peak);
  const LeastMemory stopped = least_static_memory(sizes, 1);
  EXPECT_LT(stopped.lower_bound, stopped.peak);
  EXPECT_LE(stopped.lower_bound, best.peak);
  EXPECT_GE(stopped.peak, best.peak);
}

// In a run TURN is a step of the chain, unless it is a tape that an adjoint step needs.
RC_GTEST_PROP(LeastMemory, IsEnoughForASweepThatRunsNoStepThreeTimes, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 200);
  ChainSizes sizes;
  sizes.bytes =
      *rc::gen::container<std::vector<std::int64_t>>(n + 1, rc::gen::inRange<std::int64_t>(1, 50));
  StackOptions options;
  options.steps = static_cast<std::int64_t>(n);
  const auto most_units = [&](const LeastMemory& found) {
    options.units = found.peak;
    const Taken taken =
        replay(options, std::make_unique<LeastMemoryPlanner>(sizes.bytes, found.kept));
    RC_ASSERT(taken.advances <= 2 * options.steps);
    RC_ASSERT(taken.most_units <= found.peak);
    return taken.most_units;
  };
  options.turn = *rc::gen::arbitrary<bool>();
  most_units(least_memory(sizes, Accounting::kReleased));
  most_units(least_static_memory(sizes));
  options.turn = true;
  options.record = *rc::gen::arbitrary<bool>();
  if (!options.record) sizes.bytes.push_back(0);
  const LeastMemory played = least_memory(sizes, Accounting::kPlayed);
  RC_ASSERT(played.peak - most_units(played) <= 50);  // the last state, where it is kept
}

TEST(LeastMemory, RefusesWhatIsNoChain) {
  const std::int64_t half = std::int64_t{1} << 62;
  for (const ChainSizes& sizes :
       {ChainSizes{{}}, ChainSizes{{1}}, ChainSizes{{1, -1}}, ChainSizes{{half, half}}}) {
    EXPECT_THROW(least_memory(sizes, Accounting::kReleased), Error);
  }
  EXPECT_THROW(least_static_memory({{1}}), Error);
}

}  // namespace
}  // namespace anadrome::schedule

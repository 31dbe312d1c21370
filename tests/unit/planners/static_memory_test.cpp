// SPDX-License-Identifier: BSD-2-Clause
#include "planners/memory/least_memory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/index.h"
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

TEST(StaticMemory, IsTheClosedFormWhereAllStatesAreAlike) {
  for (std::int64_t n = 1; n < 200; ++n) {
    const ChainSizes sizes{std::vector<std::int64_t>(static_cast<std::size_t>(n + 1), 1)};
    std::int64_t least = n + 1;
    for (std::int64_t m = 0; m < n; ++m) least = std::min(least, 1 + m + (n - m + m) / (m + 1));
    EXPECT_EQ(least_static_memory(sizes).peak, least) << n;
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

TEST(StaticMemory, SaysHowFarItMayBeFromTheOptimumIfItIsStopped) {
  const ChainSizes sizes{random_sizes(5000)};
  const LeastMemory best = least_static_memory(sizes);
  EXPECT_EQ(best.lower_bound, best.peak);
  const LeastMemory stopped = least_static_memory(sizes, 1);
  EXPECT_LT(stopped.lower_bound, stopped.peak);
  EXPECT_LE(stopped.lower_bound, best.peak);
  EXPECT_GE(stopped.peak, best.peak);
}

RC_GTEST_PROP(BothMemories, AreEnoughForASweepThatRunsNoStepThreeTimes, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 200);
  ChainSizes sizes;
  sizes.bytes =
      *rc::gen::container<std::vector<std::int64_t>>(n + 1, rc::gen::inRange<std::int64_t>(1, 50));
  StackOptions options;
  options.steps = static_cast<std::int64_t>(n);
  options.turn = *rc::gen::arbitrary<bool>();
  for (const LeastMemory& found :
       {least_memory(sizes, Accounting::kReleased), least_static_memory(sizes)}) {
    options.units = found.peak;
    const Taken totals =
        replay(options, std::make_unique<LeastMemoryPlanner>(sizes.bytes, found.kept));
    RC_ASSERT(totals.advances <= 2 * options.steps);
    RC_ASSERT(totals.most_units <= found.peak);
  }
}

TEST(StaticMemory, RefusesWhatIsNoChain) { EXPECT_THROW(least_static_memory({{1}}), Error); }

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/memory/least_memory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/error.h"
#include "replay.h"

namespace anadrome::schedule {
namespace {

TEST(LeastMemory, IsTheClosedFormWhereAllStatesAreAlike) {
  for (std::int64_t n = 1; n < 200; ++n) {
    const ChainSizes sizes{std::vector<std::int64_t>(static_cast<std::size_t>(n + 1), 1)};
    std::int64_t released = 2;
    while (released * (released - 1) / 2 < n) ++released;
    EXPECT_EQ(least_memory(sizes, Accounting::kReleased).peak, released) << n;
  }
}

TEST(LeastMemory, RefusesWhatIsNoChain) {
  const auto refuses = [](const ChainSizes& sizes) {
    EXPECT_THROW(least_memory(sizes, Accounting::kReleased), Error);
  };
  refuses({{}});
  refuses({{1}});
  refuses({{1, -1}});
  refuses({{std::int64_t{1} << 62, std::int64_t{1} << 62}});
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
    const ChainSizes sizes{std::vector<std::int64_t>(static_cast<std::size_t>(steps + 1), 1)};
    EXPECT_EQ(least_slots(steps), least_memory(sizes, Accounting::kPlayed).peak) << steps;
  }
  EXPECT_EQ(least_slots(5), 2);
  EXPECT_EQ(least_slots(std::int64_t{1} << 20), 1447);
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/multistage.h"

#include <gtest/gtest.h>

#include <vector>

#include "two_tier_sweep.h"

namespace anadrome::schedule {
namespace {

/// Writes and reads of each place of the stack, lowest first.
std::vector<std::int64_t> use_of_places(std::int64_t n, std::int64_t slots) {
  StackSweep nested(options_of({n, slots, 0}), std::make_unique<MultistagePlanner>());
  std::vector<std::int64_t> use(static_cast<std::size_t>(slots), 0);
  for (Action action = nested.next(); !std::holds_alternative<Done>(action);
       action = nested.next()) {
    const Kept* kept = std::get_if<Keep>(&action);
    if (kept == nullptr) kept = std::get_if<Restore>(&action);
    if (kept != nullptr) ++use[static_cast<std::size_t>(kept->place)];
  }
  return use;
}

// Stumm & Walther put on disk the places with the fewest accesses, wherever they are.
TEST(Multistage, HasTheLeastUsedPlacesOnDiskIfItSplitsShort) {
  for (std::int64_t n = 2; n <= 300; ++n) {
    for (std::int64_t slots = 1; slots <= 12; ++slots) {
      const std::vector<std::int64_t> use = use_of_places(n, slots);
      for (std::size_t place = 1; place < use.size() && use[place] > 0; ++place) {
        ASSERT_LE(use[place - 1], use[place]) << "n " << n << ", slots " << slots;
      }
    }
  }
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/schedules.h"

#include <algorithm>

#include "base/error.h"
#include "tool/schedules/action_sources.h"

namespace anadrome::tool {
namespace {

// Known only by being played, a step at a time.
Counts count_online(const Problem& problem) {
  // A step takes as long as there are slots to be weighed against each other.
  constexpr std::int64_t kMostWeighed = 500'000'000, kFewSlots = 512, kAtLeast = 16;
  const std::int64_t slots = problem.slots > kFewSlots ? kAtLeast : problem.slots;
  const std::int64_t most = kMostWeighed / std::max(slots, kAtLeast);
  if (problem.steps > most) {
    throw Error(ANADROME_ERR_ARGUMENT, "online is played to be counted: with so many slots up to " +
                                           std::to_string(most) + " --steps");
  }
  Counts counts;
  each_action(unknown_end_actions(problem), schedule::Cases{[&](const schedule::Advance& run) {
                                                              counts.advances +=
                                                                  wide(run.last - run.first);
                                                            },
                                                            [](const auto&) {}});
  return counts;
}

}  // namespace

Schedule online_schedule() {
  return {"online",     "states in RAM, for a number of steps that is not known beforehand",
          false,        false,
          count_online, unknown_end_actions,
          nullptr};
}

}  // namespace anadrome::tool

#include "tool/plan/online_schedule.h"

#include "base/error.h"
#include "tool/plan/action_sources.h"

namespace anadrome::tool {
namespace {

// Known only by being played, a step at a time.
Counts count_online(const Problem& problem) {
  constexpr std::int64_t kMostPlayed = 20'000'000;
  if (problem.steps > kMostPlayed) {
    throw Error(ANADROME_ERR_ARGUMENT, "online: it is played to be counted, up to " +
                                           std::to_string(kMostPlayed) + " steps");
  }
  const ActionSource next = unknown_end_actions(problem);
  Counts counts;
  PlannedAction action;
  while (next(action)) {
    if (action.verb != Verb::kAdvance) continue;
    counts.advances += static_cast<uint128>(action.last - action.first);
  }
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

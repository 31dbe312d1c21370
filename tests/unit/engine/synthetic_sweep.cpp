// SPDX-License-Identifier: BSD-2-Clause
#include "synthetic_sweep.h"

namespace anadrome::engine {

std::vector<TraceEvent> synthetic_sweep(const SyntheticSteps& of) {
  constexpr std::int64_t kInterval = 10;
  constexpr double kAdvance = 0.1, kWrite = 0.05, kRead = 0.06, kTurn = 0.03, kAdjoint = 0.02;
  std::vector<TraceEvent> events;
  double now = 0;
  const auto solve = [&](Activity activity, std::int64_t first, std::int64_t last, double seconds) {
    events.push_back({now, now + seconds, first, last, activity});
    now += seconds;
  };
  for (std::int64_t anchor = 0; anchor < of.steps; anchor += kInterval) {
    events.push_back({now, now + kWrite, anchor, anchor, Activity::kWrite});
    solve(Activity::kAdvance, anchor, anchor + kInterval, kAdvance);
  }
  solve(Activity::kTurn, of.steps, of.steps, kTurn);
  for (std::int64_t anchor = of.steps - kInterval; anchor >= 0; anchor -= kInterval) {
    const bool in_memory = anchor + kInterval == of.steps;
    if (!in_memory) events.push_back({now - kRead, now, anchor, anchor, Activity::kRead});
    solve(Activity::kRecompute, anchor, anchor + kInterval, kAdvance);
    for (std::int64_t step = anchor + kInterval; step-- > anchor;)
      solve(Activity::kAdjoint, step, step + 1, kAdjoint);
  }
  return events;
}

}  // namespace anadrome::engine

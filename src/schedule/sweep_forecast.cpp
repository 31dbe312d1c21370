// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/sweep_forecast.h"

#include <vector>

#include "schedule/clock.h"

namespace anadrome::schedule {
std::optional<double> seconds_of_two_tier(const StepCosts& costs, const TwoTierMemory& memory,
                                          std::int64_t steps, Planner& planner) {
  constexpr int kMostQuestions = 200'000;
  DiskClock clock(costs, memory.disk);
  std::vector<Segment> open;  // from x_first on disk, below the one that is being reversed
  Segment here;
  here.last = steps;
  here.units = memory.units;
  here.disk_slots = memory.disk_slots;
  for (int questions = 0; questions < kMostQuestions;) {
    Placement placement{Place::kRam, 0};
    while (here.last - here.first > 1) {
      ++questions;
      placement = planner.place(here);
      if (placement.place != Place::kDisk && placement.place != Place::kNowhere) break;
      if (placement.place == Place::kDisk) {
        clock.write();
        here.held = Place::kDisk;
        --here.disk_slots;
        continue;
      }
      clock.compute(static_cast<double>(placement.advance) * costs.forward);
      Segment below = here;
      below.last = here.first + placement.advance;
      open.push_back(below);
      here.first = below.last;
      here.held = Place::kNowhere;
    }
    // The rest is reversed from RAM.
    const double began = clock.now();
    const std::int64_t length = here.last - here.first;
    const auto again = length > 1 ? static_cast<double>(planner.advances(here)) : 0.0;
    clock.compute(again * costs.forward + static_cast<double>(length) * costs.adjoint);
    if (open.empty()) return clock.now() - costs.adjoint;  // TURN is no adjoint step
    here = open.back();
    open.pop_back();
    clock.read(began);
  }
  return std::nullopt;
}

double seconds_of_overlapped(const StepCosts& costs, const OverlappedPlan& plan) {
  double seconds = plan.makespan - costs.adjoint;
  for (const OverlapAction& action : plan.actions) {
    if (action.kind == OverlapKind::kWrite) seconds += costs.write_taken;
    if (action.kind == OverlapKind::kRead) seconds += costs.read_taken;
  }
  return seconds;
}

}  // namespace anadrome::schedule

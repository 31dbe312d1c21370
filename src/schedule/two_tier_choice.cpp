#include "schedule/two_tier_choice.h"

#include "schedule/disk_revolve.h"
#include "schedule/hrevolve.h"
#include "schedule/two_tier_costs.h"

namespace anadrome::schedule {

std::unique_ptr<Planner> TwoTierChoice::planner(const StepCosts& costs) const {
  const TwoTierCosts ticks = costs_in_ticks(costs.forward, costs.adjoint, costs.write, costs.read);
  if (unbounded) {
    auto planner = std::make_unique<DiskRevolvePlanner>(steps, units, ticks);
    // x_0 may be on disk beside its states. Where they do not fit, the best that fits.
    if (planner->disk_slots() < disk_slots) return planner;
  }
  return std::make_unique<HRevolvePlanner>(steps, units, disk_slots, ticks);
}

}  // namespace anadrome::schedule

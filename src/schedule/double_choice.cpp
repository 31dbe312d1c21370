#include "schedule/double_choice.h"

#include <algorithm>

#include "base/checked.h"

namespace anadrome::schedule {

std::int64_t DoubleChoice::least_interval() const {
  const std::int64_t others = disk_slots - (lead > 0 ? 1 : 0);
  const std::int64_t rest = std::max<std::int64_t>(steps - lead, 1);
  return others > 0 ? ceil_divide(rest, others) : rest;
}

std::unique_ptr<Planner> DoubleChoice::planner(const StepCosts& costs) const {
  if (interval > 0) {
    const std::int64_t fits = std::clamp<std::int64_t>(steps, 1, interval);
    return std::make_unique<DoublePlanner>(double_sweep_within(steps, lead, fits, memory));
  }
  const std::int64_t least = end_known() ? least_interval() : 1;
  return std::make_unique<DoublePlanner>(
      best_double_sweep(steps, lead, least, memory, {costs, record, reads_ahead}));
}

}  // namespace anadrome::schedule

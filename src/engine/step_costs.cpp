#include "engine/step_costs.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace anadrome::engine {
namespace {

void take_largest(std::vector<double>& seconds, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX,
                comm);
}

}  // namespace

void StepCostTable::give(std::span<const double> seconds) {
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    if (std::isfinite(seconds[k]) && seconds[k] >= 0) continue;
    throw Error(ANADROME_ERR_ARGUMENT, "set_step_costs: the cost of step " + std::to_string(k) +
                                           " is not a number of seconds");
  }
  seconds_.assign(seconds.begin(), seconds.end());
  measuring_ = false;
}

void StepCostTable::measure(std::int64_t steps) {
  seconds_.assign(static_cast<std::size_t>(steps), 0.0);
  measuring_ = true;
}

void StepCostTable::finish(MPI_Comm comm) {
  take_largest(seconds_, comm);
  measuring_ = false;
}

std::vector<std::int64_t> StepCostTable::ticks(MPI_Comm comm) const {
  std::vector<double> seconds = seconds_;
  take_largest(seconds, comm);
  const double dearest = seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end());
  const double scale = dearest > 0 ? 0x1p20 / dearest : 0;
  std::vector<std::int64_t> ticks;
  ticks.reserve(seconds.size());
  // At least one, so that no advance is free and plans stay short of needless ones.
  for (const double cost : seconds)
    ticks.push_back(std::max<std::int64_t>(std::llround(cost * scale), 1));
  return ticks;
}

}  // namespace anadrome::engine

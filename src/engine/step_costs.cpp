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
  given_.assign(seconds.begin(), seconds.end());
}

void StepCostTable::begin(std::int64_t steps, bool wanted) {
  in_use_.clear();
  measured_now_.clear();
  if (!wanted) return;
  const std::vector<double>* known = table_of(steps);
  if (known != nullptr) {
    in_use_ = *known;
  } else {
    measured_now_.assign(static_cast<std::size_t>(steps), 0.0);
  }
}

void StepCostTable::finish(MPI_Comm comm) {
  take_largest(measured_now_, comm);
  measured_.swap(measured_now_);
  measured_now_.clear();
}

const std::vector<double>* StepCostTable::table_of(std::int64_t steps) const {
  for (const std::vector<double>* table : {&given_, &measured_}) {
    if (steps > 0 && static_cast<std::int64_t>(table->size()) == steps) return table;
  }
  return nullptr;
}

void StepCostTable::share(MPI_Comm comm) { take_largest(in_use_, comm); }

std::vector<std::int64_t> StepCostTable::ticks() const {
  const double dearest = *std::max_element(in_use_.begin(), in_use_.end());
  const double scale = dearest > 0 ? 0x1p20 / dearest : 0;
  std::vector<std::int64_t> ticks;
  ticks.reserve(in_use_.size());
  // At least one, so that no advance is free and plans have no needless ones.
  for (const double cost : in_use_) {
    ticks.push_back(std::max<std::int64_t>(std::llround(cost * scale), 1));
  }
  return ticks;
}

}  // namespace anadrome::engine

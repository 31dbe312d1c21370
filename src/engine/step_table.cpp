#include "engine/step_table.h"

#include <algorithm>
#include <cmath>

namespace anadrome::engine {
void StepTable::begin(std::int64_t steps, bool wanted) {
  in_use_.clear();
  measured_now_.clear();
  if (!wanted) return;
  measured_in_use_ = !is_of(given_, steps);
  if (!measured_in_use_) {
    in_use_ = given_;
  } else if (is_of(measured_, steps)) {
    in_use_ = measured_;
  } else {
    measured_now_.assign(static_cast<std::size_t>(steps), 0.0);
  }
}

void StepTable::finish(Ranks& ranks) {
  ranks.largest(measured_now_);
  measured_.swap(measured_now_);
  measured_now_.clear();
}

void StepTable::share(Ranks& ranks) { ranks.largest(in_use_); }

std::vector<std::int64_t> StepTable::ticks() const {
  const double largest = *std::max_element(in_use_.begin(), in_use_.end());
  const double scale = largest > 0 ? 0x1p20 / largest : 0;
  std::vector<std::int64_t> ticks;
  ticks.reserve(in_use_.size());
  // At least one, so that no advance is free and plans have no needless ones.
  for (const double value : in_use_) {
    ticks.push_back(std::max<std::int64_t>(std::llround(value * scale), 1));
  }
  return ticks;
}

}  // namespace anadrome::engine

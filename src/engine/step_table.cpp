// SPDX-License-Identifier: BSD-2-Clause
#include "engine/step_table.h"

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

}  // namespace anadrome::engine

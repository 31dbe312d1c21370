// SPDX-License-Identifier: BSD-2-Clause
#include "engine/plan/decisions.h"

#include <algorithm>

namespace anadrome::engine {

schedule::Measured Decisions::measured() const {
  schedule::StepCosts costs = planning_.costs(plan_);
  costs.passes = planning_.passes();
  return {.costs = costs,
          .write_times_known = measured_.write_times_known(),
          .of_earlier_sweep = measured_.of_earlier_sweep(),
          .agreement = agreement_.count(),
          .times = &measured_.interval_times()};
}

void Decisions::decide() {
  for (;;) {
    switch (plan_.sweep->decide(measured())) {
      case schedule::Next::kGoOn:
        return use_memory();
      case schedule::Next::kFlush:
        held_.hold(failure_from([&] { keeper_.disk_tier()->flush(); }));
        meeting_.agree(Call::kAnchor);
        break;
      case schedule::Next::kAgree:
        meeting_.agree(Call::kAnchor);
        break;
    }
  }
}

// Blocks that are read ahead and slots share the memory.
void Decisions::use_memory() {
  const schedule::Course course = plan_.sweep->course();
  if (course.prefetch_depth == schedule::kUnknown) return;
  plan_.memory.prefetch_depth = course.prefetch_depth;
  plan_.memory.checkpoint_slots = course.slots;
  keeper_.disk_tier()->set_prefetch_depth(course.prefetch_depth);
}

void Decisions::rewind(std::int64_t restorable) {
  plan_.sweep->rewind(restorable);
  sweep_.newest_anchor = std::max<std::int64_t>(plan_.sweep->anchors().count() - 1, 0);
}

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// The gradient by ADOL-C's own checkpointing of a loop whose step has no state beside u.
#pragma once

#include <adolc/checkpointing.h>

#include <vector>

namespace bench {

/// Of `objective` of u after `steps` steps, in this many slots; returns its value.
template <class Objective>
double by_adolc_checkpoints(CP_Context& recorded_step, int (*step)(int, double*),
                            const std::vector<double>& u_0, int steps, int slots,
                            const Objective& objective, std::vector<double>& gradient) {
  constexpr short kWhole = 1, kOneStep = 2;
  const int cells = static_cast<int>(u_0.size());
  double value = 0, one = 1;
  trace_on(kWhole, 1);
  {
    std::vector<adouble> u(u_0.size());
    for (std::size_t i = 0; i < u_0.size(); ++i) u[i] <<= u_0[i];
    recorded_step.setDoubleFct(step);
    recorded_step.setSaveFct([]() -> void* { return nullptr; });
    recorded_step.setRestoreFct([](void*) {});
    recorded_step.setNumberOfSteps(steps);
    recorded_step.setNumberOfCheckpoints(slots);
    recorded_step.setDimensionXY(cells);
    recorded_step.setInput(u.data());
    recorded_step.setOutput(u.data());
    recorded_step.setTapeNumber(kOneStep);
    recorded_step.setAlwaysRetaping(true);
    recorded_step.checkpointing();
    adouble sum = objective(u.data(), u.size());
    sum >>= value;
    trace_off();
  }
  gradient.resize(u_0.size());
  fos_reverse(kWhole, 1, cells, &one, gradient.data());
  return value;
}

}  // namespace bench

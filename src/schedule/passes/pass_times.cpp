// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/passes/pass_times.h"

#include <algorithm>

#include "base/index.h"

namespace anadrome::schedule {

double forward_pass_seconds(const StepCosts& costs, std::int64_t interval, bool reads_overlap,
                            std::int64_t stride) {
  const auto between = real(interval) * real(stride);
  const double visit = costs.visit > 0 ? costs.visit : costs.forward;
  const double computing = between * visit + (between - 1) * costs.forward;
  const double seconds =
      reads_overlap ? std::max(computing + costs.read_taken, costs.read) : computing + costs.read;
  return seconds / between;
}

std::int64_t best_stride(const StepCosts& costs, std::int64_t interval, bool reads_overlap) {
  constexpr double kWorthwhile = 0.97;
  std::int64_t best = 1;
  double least = kWorthwhile * forward_pass_seconds(costs, interval, reads_overlap);
  for (const std::int64_t stride : {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
    const double seconds = forward_pass_seconds(costs, interval, reads_overlap, stride);
    if (seconds >= least) continue;
    least = seconds;
    best = stride;
  }
  return best;
}

std::int64_t best_stride(const StepCosts& costs, std::int64_t steps, std::int64_t anchors,
                         bool reads_overlap) {
  if (anchors < 2) return 1;
  return best_stride(costs, std::max<std::int64_t>(steps / anchors, 1), reads_overlap);
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/memory/least_memory.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "planners/memory/chain_sweep.h"

namespace anadrome::schedule {
LeastMemory least_memory(const ChainSizes& sizes, Accounting accounting) {
  ChainSweep sweep(sizes);
  const auto fits = [&](std::int64_t peak) {
    return sweep
        .run(sizes.bytes[0],
             [&](const ChainSweep::Candidate& last, std::int64_t k, std::int64_t workspace) {
               return last.kept + sweep.segment(last.state, k, accounting) + workspace <= peak;
             })
        .has_value();
  };
  std::int64_t low = 0, high = sweep.sum(0, sizes.steps() + 1);
  for (const std::int64_t bytes : sizes.workspace) high += bytes;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (fits(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  fits(high);
  return {high, high, sweep.kept()};
}

// With P slots the segments have P + 1, P, .. , 2 steps.
std::int64_t least_slots(std::int64_t steps) {
  const auto fit = [](std::int64_t slots) { return wide(slots) * wide(slots + 3) / 2; };
  auto slots = static_cast<std::int64_t>(std::sqrt(2 * real(steps)));
  while (slots > 1 && fit(slots - 1) >= wide(steps)) --slots;
  while (slots < 1 || fit(slots) < wide(steps)) ++slots;
  return slots;
}

std::unique_ptr<Planner> least_memory_of_equal_states(std::int64_t steps) {
  ChainSizes sizes;
  sizes.bytes.assign(at(steps + 1), 1);
  LeastMemory least = least_memory(sizes, Accounting::kPlayed);
  return std::make_unique<LeastMemoryPlanner>(std::move(sizes.bytes), std::move(least.kept));
}

LeastMemoryPlanner::LeastMemoryPlanner(std::vector<std::int64_t> bytes,
                                       std::vector<std::int64_t> kept)
    : bytes_(std::move(bytes)), kept_(std::move(kept)) {}

std::int64_t LeastMemoryPlanner::state_units(std::int64_t step) const { return bytes_[at(step)]; }

std::vector<std::int64_t>::const_iterator LeastMemoryPlanner::first_above(std::int64_t step) const {
  return std::upper_bound(kept_.begin(), kept_.end(), step);
}

Placement LeastMemoryPlanner::place(const Segment& segment) {
  if (segment.held == Place::kNowhere) return {Place::kRam, 0};
  const auto next = first_above(segment.first);
  const bool to_next = next != kept_.cend() && *next < segment.last;
  return {Place::kNowhere, to_next ? *next - segment.first : 1};
}

// Every segment but the last is run twice up to its end, less the last step, which is live then.
uint128 LeastMemoryPlanner::advances(const Segment& segment) {
  const std::int64_t steps = segment.last - segment.first;
  if (steps < 2) return 0;
  const auto next = first_above(segment.first);
  const auto end = std::lower_bound(next, kept_.cend(), segment.last);
  if (next == end) return wide(steps - 1);
  const std::int64_t last_begin = *(end - 1);
  const auto segments = static_cast<std::int64_t>(end - next);
  return wide(last_begin - segment.first + (last_begin - segment.first - segments) +
              (segment.last - last_begin - 1));
}

}  // namespace anadrome::schedule

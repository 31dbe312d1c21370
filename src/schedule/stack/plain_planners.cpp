// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/plain_planners.h"

namespace anadrome::schedule {
namespace {

// Revolve counts the slot of x_first.
std::int64_t slots_of(const Segment& segment) {
  return segment.units + (segment.held == Place::kNowhere ? 0 : 1);
}

}  // namespace

Placement RevolvePlanner::place(const Segment&) { return {Place::kRevolve, 0}; }

uint128 RevolvePlanner::advances(const Segment& segment) {
  return extra_advances(segment.last - segment.first, slots_of(segment));
}

Placement StoreTapesPlanner::place(const Segment&) { return {Place::kTape, 0}; }

}  // namespace anadrome::schedule

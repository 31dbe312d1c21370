#include "schedule/plain_planners.h"

#include <algorithm>

namespace anadrome::schedule {
namespace {

// Revolve counts the slot of x_first.
std::int64_t slots_of(const Segment& segment) {
  return segment.units + (segment.held == Place::kNowhere ? 0 : 1);
}

}  // namespace

Placement RevolvePlanner::place(const Segment& segment) {
  if (segment.held == Place::kNowhere) return {Place::kRam, 0};
  const std::int64_t steps = segment.last - segment.first;
  const std::int64_t slots = slots_of(segment);
  const bool direct = slots == 1 || steps == 2;
  return {Place::kNowhere, direct ? steps - 1 : splitter_.split(steps, slots)};
}

uint128 RevolvePlanner::advances(const Segment& segment) {
  return extra_advances(segment.last - segment.first, slots_of(segment));
}

Placement StoreTapesPlanner::place(const Segment&) { return {Place::kTape, 0}; }

}  // namespace anadrome::schedule

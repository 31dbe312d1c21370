// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/online_planner.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "schedule/stack/plain_planners.h"

namespace anadrome::schedule {

OnlinePlanner::OnlinePlanner(const OnlineOptions& options) : options_(options) {
  constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 22;
  placement_.reserve(std::min(options_.slots - 1, kMostAtOnce));
  begin(0, options_.slots);
}

void OnlinePlanner::begin(std::int64_t first, std::int64_t slots) {
  options_.slots = slots;
  placed_ = first;
  placement_.begin(first, slots);
}

Placement OnlinePlanner::place(const Segment& segment) {
  if (!leads_) return {Place::kRevolve, 0};
  if (options_.slots == 1 && !options_.keep_every) {
    constexpr std::int64_t kFar = std::int64_t{1} << 30;  // nothing to keep on the way
    return {Place::kNowhere, kFar};
  }
  if (segment.first == placed_) return {Place::kNowhere, 1};
  placed_ = segment.first;
  if (segment.units > 0) {
    placement_.add(segment.first);
    return {Place::kRam, 0};
  }
  if (options_.keep_every) {
    throw Error(ANADROME_ERR_MEMORY, "store_all: all " + std::to_string(options_.slots) +
                                         " slots hold states at step " +
                                         std::to_string(segment.first) +
                                         "; raise memory, or take schedule=async or revolve");
  }
  const std::int64_t place = placement_.replace(segment.first);
  if (place < 0) return {Place::kNowhere, 1};
  return {Place::kReplace, options_.lowest + place};
}

uint128 OnlinePlanner::advances(const Segment& segment) {
  return RevolvePlanner().advances(segment);
}

}  // namespace anadrome::schedule

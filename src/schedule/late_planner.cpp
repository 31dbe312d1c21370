// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/late_planner.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace anadrome::schedule {

LatePlanner::LatePlanner(std::int64_t first_steps, Choose choose)
    : first_steps_(first_steps), choose_(std::move(choose)) {}

Placement LatePlanner::place(const Segment& segment) {
  if (planner_ != nullptr) return planner_->place(segment);
  if (segment.held == Place::kNowhere) return {segment.first > 0 ? Place::kAsk : Place::kDisk, 0};
  return {Place::kNowhere, std::min(first_steps_, segment.last - segment.first - 1)};
}

uint128 LatePlanner::advances(const Segment& segment) {
  if (planner_ == nullptr) throw Error(ANADROME_ERR_INTERNAL, "no planner was chosen");
  return planner_->advances(segment);
}

Next LatePlanner::decide(const Segment&, std::int64_t, const Measured&) {
  return std::exchange(flushed_, true) ? Next::kPlan : Next::kFlush;
}

}  // namespace anadrome::schedule

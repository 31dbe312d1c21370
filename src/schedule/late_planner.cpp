#include "schedule/late_planner.h"

#include <algorithm>

#include "base/error.h"

namespace anadrome::schedule {

Placement LatePlanner::place(const Segment& segment) {
  if (planner_ != nullptr) return planner_->place(segment);
  if (segment.held == Place::kNowhere) return {Place::kDisk, 0};
  return {Place::kNowhere, std::min(first_steps_, segment.last - segment.first - 1)};
}

uint128 LatePlanner::advances(const Segment& segment) {
  if (planner_ == nullptr) throw Error(ANADROME_ERR_INTERNAL, "no planner was chosen");
  return planner_->advances(segment);
}

}  // namespace anadrome::schedule

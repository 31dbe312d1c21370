// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/multistage.h"

namespace anadrome::schedule {

Placement MultistagePlanner::place(const Segment& segment) {
  if (segment.held == Place::kNowhere) {
    return {segment.disk_slots > 0 ? Place::kDisk : Place::kRam, 0};
  }
  const std::int64_t slots = segment.units + segment.disk_slots + 1;
  return {Place::kNowhere,
          multistage_split(splitter_, segment.last - segment.first, slots, splits_)};
}

uint128 MultistagePlanner::advances(const Segment& segment) {
  const std::int64_t held = segment.held == Place::kNowhere ? 0 : 1;
  return extra_advances(segment.last - segment.first, segment.units + segment.disk_slots + held);
}

}  // namespace anadrome::schedule

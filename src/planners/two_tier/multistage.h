// SPDX-License-Identifier: BSD-2-Clause
// Multistage checkpointing (Stumm & Walther 2009): Revolve with all slots, in RAM and on disk, of
// which those that are used least are on disk. The costs of reading and writing have no say.
#pragma once

#include <cstdint>

#include "planners/two_tier/two_tier_costs.h"
#include "schedule/stack/multistage_split.h"
#include "schedule/words/placement.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

/// The disk has the lowest places of the stack. With the shortest splits these are the ones that
/// are used least; with the published ones not always (docs/theory-two-tier.md).
class MultistagePlanner final : public Planner {
 public:
  Placement place(const Segment& segment) override {
    if (segment.held == Place::kNowhere) {
      return {segment.disk_slots > 0 ? Place::kDisk : Place::kRam, 0};
    }
    const std::int64_t slots = segment.units + segment.disk_slots + 1;
    return {Place::kNowhere, multistage_split(splitter_, segment.last - segment.first, slots)};
  }
  uint128 advances(const Segment& segment) override {
    const std::int64_t held = segment.held == Place::kNowhere ? 0 : 1;
    return extra_advances(segment.last - segment.first, segment.units + segment.disk_slots + held);
  }

 private:
  Splitter splitter_;
};

/// Throws ERR_ARGUMENT also where so few slots are used so often, or so many slots are on disk,
/// that counting takes too long.
TwoTierUse multistage_use(std::int64_t steps, std::int64_t ram_slots, std::int64_t disk_slots);

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/disk_transfers.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace anadrome::tool {

DiskTransfers disk_transfers(schedule::Planner& planner, const Problem& problem) {
  constexpr int kMostSegments = 20'000'000;
  struct Part {
    std::int64_t first, last, states_below;
  };
  DiskTransfers sum;
  std::vector<Part> live = {{0, problem.steps, 0}};  // with x_first live only
  for (int segments = 0; !live.empty();) {
    const Part part = live.back();
    live.pop_back();
    schedule::Segment segment;
    segment.first = part.first;
    segment.last = part.last;
    segment.units = problem.slots;
    std::int64_t states = part.states_below;
    while (segment.last - segment.first > 1) {
      if (++segments > kMostSegments) {
        throw Error(ANADROME_ERR_ARGUMENT,
                    "to count the transfers of so many steps takes too long; take fewer --steps or "
                    "more --slots");
      }
      segment.disk_slots = problem.disk_slots == kNoLimit ? kNoLimit : problem.disk_slots - states;
      const schedule::Placement placement = planner.place(segment);
      if (placement.place == schedule::Place::kDisk) {
        segment.held = schedule::Place::kDisk;
        ++sum.writes;
        sum.most_states = std::max(sum.most_states, ++states);
      } else if (placement.place == schedule::Place::kNowhere) {
        ++sum.reads;
        live.push_back({segment.first + placement.advance, segment.last, states});
        segment.last = segment.first + placement.advance;
      } else {
        break;
      }
    }
  }
  return sum;
}

}  // namespace anadrome::tool

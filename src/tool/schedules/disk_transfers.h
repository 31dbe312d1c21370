// SPDX-License-Identifier: BSD-2-Clause
// How often a planner for RAM and disk writes and reads.
#pragma once

#include "schedule/words/placement.h"
#include "tool/schedules/problems/problem.h"

namespace anadrome::tool {

struct DiskTransfers {
  uint128 writes = 0, reads = 0;
  std::int64_t most_states = 0;  ///< on disk at a time
};

/// Asks the planner about every segment that begins with a state on disk. Segments that begin in
/// RAM stay there, as with all of these planners. Throws ERR_ARGUMENT beyond 2e7 segments.
DiskTransfers disk_transfers(schedule::Planner& planner, const Problem& problem);

}  // namespace anadrome::tool

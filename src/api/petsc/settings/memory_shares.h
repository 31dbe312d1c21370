// SPDX-License-Identifier: BSD-2-Clause
// Who gets what of -ts_trajectory_anadrome_memory: records that no recomputation leads to, all
// records in full as long as there are few, and the library.
#pragma once

#include <algorithm>
#include <cstdint>

#include "api/petsc/settings/settings.h"

namespace anadrome::petsc {

struct MemoryShares {
  std::int64_t memory = 0;     ///< bytes, as all here of the rank that needs the most
  std::int64_t aside = 0;      ///< for records that no recomputation leads to
  std::int64_t state = 0;      ///< one
  std::int64_t record = 0;     ///< one
  bool aside_said = false;     ///< by -ts_trajectory_anadrome_set_aside
  std::int64_t most_kept = 0;  ///< records in full, as long as there are no more; 0: none are
  std::int64_t follower = 0;   ///< of these a Follower's; 0: there is none
  bool reports = false;        ///< are asked for, on one rank at least: a Follower shows them
  bool files_stay = false;     ///< the Follower's, which has its part to the end then

  /// The library's, where states of so many first steps stay.
  std::int64_t for_library(std::int64_t first_steps) const {
    return std::max<std::int64_t>(
        memory - aside - first_steps * state - (files_stay ? follower : 0), 1);
  }
  /// The least memory of which the library gets so much.
  std::int64_t least_for(std::int64_t library) const;
};

/// Collective. `state` and `record` are bytes on this rank.
PetscErrorCode share_memory(TSTrajectory tj, const Settings& settings, std::size_t state,
                            std::size_t record, MemoryShares* shares);

}  // namespace anadrome::petsc

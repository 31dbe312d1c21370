// SPDX-License-Identifier: BSD-2-Clause
// Who gets what of -ts_trajectory_anadrome_memory: records that no recomputation leads to, all
// records in full as long as there are few, and the library.
#pragma once

#include <cstdint>

#include "api/petsc/settings.h"

namespace anadrome::petsc {

struct MemoryShares {
  std::int64_t memory = 0;     ///< bytes, as all here of the rank that needs the most
  std::int64_t aside = 0;      ///< for records that no recomputation leads to
  std::int64_t state = 0;      ///< one
  std::int64_t most_kept = 0;  ///< records in full, as long as there are no more; 0: none are

  /// The library's, where states of so many first steps stay.
  std::int64_t for_library(std::int64_t first_steps) const {
    return memory - aside - first_steps * state;
  }
};

/// Collective. `state` and `record` are bytes on this rank; PETSC_ERR_MEM if nothing is left.
PetscErrorCode share_memory(TSTrajectory tj, const Settings& settings, std::size_t state,
                            std::size_t record, MemoryShares* shares);

}  // namespace anadrome::petsc

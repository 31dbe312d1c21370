// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/settings/memory_shares.h"

#include <algorithm>

#include "api/petsc/settings/follower.h"

namespace anadrome::petsc {
namespace {

// Where nobody said otherwise: how states are kept, how many, or how many steps there are, which
// tells the library at once whether all records fit. For files that stay it would run steps again.
bool keeps_all_at_first(const Settings& settings, bool files_stay) {
  for (const char* key : {"schedule", "interval", "checkpoints", "resume"}) {
    const std::string value = settings.value_or_environment(key);
    if (!value.empty() && value != "auto" && value != "off") return false;
  }
  return (settings.steps < 0 || files_stay) && settings.stride <= 0 && settings.anchors <= 0 &&
         settings.checkpoints <= 0;
}

std::int64_t usual_aside(std::int64_t record) {
  constexpr std::int64_t kUsual = 16, kLeastBytes = std::int64_t{16} << 20;
  return std::max(kUsual * record, kLeastBytes);
}

}  // namespace

std::int64_t MemoryShares::least_for(std::int64_t library) const {
  if (aside_said) return library + aside;
  const std::int64_t third = (library + 2) / 3;  // of four parts one is set aside
  return library + std::max(state + record, std::min(usual_aside(record), third));
}

PetscErrorCode share_memory(TSTrajectory tj, const Settings& settings, std::size_t state,
                            std::size_t record, MemoryShares* shares) {
  const MPI_Comm comm = comm_of(tj);
  const bool keeps = tj->keepfiles == PETSC_TRUE || settings.keeps_files();
  std::int64_t most[4] = {static_cast<std::int64_t>(state), static_cast<std::int64_t>(record),
                          Follower::wanted(settings) ? 1 : 0, keeps ? 1 : 0};
  PetscFunctionBegin;
  PetscCall(memory_asked(settings, &shares->memory));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_INT64_T, MPI_MAX, comm));
  const auto [most_state, most_record, reports, files_stay] = most;
  const std::int64_t followed = std::max(reports, files_stay);
  const std::int64_t memory = shares->memory;
  std::int64_t aside = std::min(usual_aside(most_record), memory / 4);
  aside = std::max(aside, most_state + most_record);  // x_0, and the end of one TSSolve
  if (settings.set_aside >= 0) aside = settings.set_aside;
  shares->aside = aside;
  shares->state = most_state;
  shares->record = most_record;
  shares->aside_said = settings.set_aside >= 0;
  // Of all records in full, half of the memory is left for the library when they are too many.
  const std::int64_t each = std::max(most_record, 2 * most_state);
  const std::int64_t for_files = files_stay * Follower::kStates * most_state;
  const std::int64_t follower = followed * Follower::kBytes + for_files;
  const std::int64_t of_a_step = followed * Follower::kStepBytes;
  const std::int64_t kept = (memory - aside - follower) / (each + of_a_step);
  shares->most_kept = kept >= 2 && keeps_all_at_first(settings, files_stay != 0) ? kept : 0;
  shares->reports = reports != 0;
  shares->files_stay = files_stay != 0 && shares->most_kept > 0;
  shares->follower = shares->most_kept > 0 ? follower + kept * of_a_step : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

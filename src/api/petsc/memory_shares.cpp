// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/memory_shares.h"

#include <algorithm>

#include "base/byte_size.h"

namespace anadrome::petsc {
namespace {

// Where nobody said otherwise: how states are kept, how many, for whom, or how many steps there
// are, which tells the library at once whether all records fit.
bool keeps_all_at_first(TSTrajectory tj, const Settings& settings) {
  for (const char* key : {"schedule", "interval", "checkpoints", "anchors", "keep", "progress",
                          "trace", "report", "resume", "watchdog"}) {
    const std::string value = settings.value_or_environment(key);
    if (!value.empty() && value != "auto" && value != "off") return false;
  }
  return settings.steps < 0 && settings.stride <= 0 && settings.anchors <= 0 &&
         settings.checkpoints <= 0 && tj->keepfiles == PETSC_FALSE;
}

}  // namespace

PetscErrorCode share_memory(TSTrajectory tj, const Settings& settings, std::size_t state,
                            std::size_t record, MemoryShares* shares) {
  constexpr std::int64_t kUsual = 16, kLeastBytes = std::int64_t{16} << 20;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(tj));
  std::int64_t bytes[2] = {static_cast<std::int64_t>(state), static_cast<std::int64_t>(record)};
  PetscFunctionBegin;
  PetscCall(memory_asked(settings, &shares->memory));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_INT64_T, MPI_MAX, comm));
  const auto [most_state, most_record] = bytes;
  const std::int64_t memory = shares->memory;
  std::int64_t aside = std::min(std::max(kUsual * most_record, kLeastBytes), memory / 4);
  aside = std::max(aside, most_state + most_record);  // x_0, and the end of one TSSolve
  if (settings.set_aside >= 0) aside = settings.set_aside;
  PetscCheck(aside < memory, comm, PETSC_ERR_MEM,
             "of -ts_trajectory_anadrome_memory (%s) nothing is left when %s are set aside for "
             "records that cannot be recomputed (one is %s)",
             format_bytes(memory).c_str(), format_bytes(aside).c_str(),
             format_bytes(most_record).c_str());
  shares->aside = aside;
  shares->state = most_state;
  // Of all records in full, half of the memory is left for the library when they are too many.
  const std::int64_t most = (memory - aside) / std::max(most_record, 2 * most_state);
  shares->most_kept = most >= 2 && keeps_all_at_first(tj, settings) ? most : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

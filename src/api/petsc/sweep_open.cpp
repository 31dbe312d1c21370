// SPDX-License-Identifier: BSD-2-Clause
// Sweep, first half: from the settings and what a TS holds to a run of the library.
#include <algorithm>
#include <string_view>

#include "api/petsc/sweep.h"
#include "base/byte_size.h"

namespace anadrome::petsc {

PetscErrorCode Sweep::check(anadrome_status status, const char* advice) const {
  PetscFunctionBegin;
  if (status == ANADROME_OK) PetscFunctionReturn(PETSC_SUCCESS);
  PetscErrorCode code = PETSC_ERR_LIB;
  if (status == ANADROME_ERR_MEMORY) code = PETSC_ERR_MEM;
  if (status == ANADROME_ERR_ARGUMENT) code = PETSC_ERR_ARG_WRONG;
  if (status == ANADROME_ERR_UNSUPPORTED) code = PETSC_ERR_SUP;
  if (status == ANADROME_ERR_IO || status == ANADROME_ERR_NO_SPACE) code = PETSC_ERR_FILE_WRITE;
  if (status == ANADROME_ERR_CORRUPT) code = PETSC_ERR_FILE_UNEXPECTED;
  SETERRQ(comm_, code, "%s: %s%s", anadrome_status_name(status), anadrome_last_error(), advice);
}

PetscErrorCode Sweep::set(const char* key, const std::string& value) {
  PetscFunctionBegin;
  PetscCall(check(anadrome_set(run_, key, value.c_str())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where nobody said otherwise: how states are kept, how many, for whom, or how many steps there
// are, which tells the library at once whether all records fit.
bool Sweep::keeps_all_at_first(TSTrajectory tj) const {
  const Settings& settings = settings_of(tj);
  for (const char* key : {"schedule", "interval", "checkpoints", "anchors", "keep", "progress",
                          "trace", "report", "resume", "watchdog"}) {
    const std::string value = settings.value_or_environment(key);
    if (!value.empty() && value != "auto" && value != "off") return false;
  }
  return settings.steps < 0 && settings.stride <= 0 && settings.anchors <= 0 &&
         settings.checkpoints <= 0 && tj->keepfiles == PETSC_FALSE;
}

// The library gets what is not set aside for records that no recomputation leads to: the first one,
// and those at events and at the ends of TSSolve.
PetscErrorCode Sweep::share_memory(TSTrajectory tj) {
  constexpr std::int64_t kUsual = 16, kLeastBytes = std::int64_t{16} << 20;
  const Settings& settings = settings_of(tj);
  std::int64_t bytes[2] = {static_cast<std::int64_t>(state_shape_.bytes() + rest_bytes_),
                           static_cast<std::int64_t>(tape_shape_.bytes())};
  PetscFunctionBegin;
  PetscCall(memory_asked(settings, &memory_));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_INT64_T, MPI_MAX, comm_));
  const auto [state, record] = bytes;
  std::int64_t aside = std::min(std::max(kUsual * record, kLeastBytes), memory_ / 4);
  aside = std::max(aside, state + record);  // x_0, and the end of one TSSolve
  if (settings.set_aside >= 0) aside = settings.set_aside;
  PetscCheck(aside < memory_, comm_, PETSC_ERR_MEM,
             "of -ts_trajectory_anadrome_memory (%s) nothing is left when %s are set aside for "
             "records that cannot be recomputed (one is %s)",
             format_bytes(memory_).c_str(), format_bytes(aside).c_str(),
             format_bytes(record).c_str());
  aside_ = aside;
  state_most_ = state;
  // Of all records in full, half of the memory is left for the library when they are too many.
  most_kept_ = keeps_all_at_first(tj) ? (memory_ - aside) / std::max(record, 2 * state) : 0;
  if (most_kept_ < 2) most_kept_ = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::give_options(TSTrajectory tj) {
  const Settings& settings = settings_of(tj);
  PetscFunctionBegin;
  PetscCall(set("audit", "off"));  // every step that is run again has a fingerprint of its own
  PetscCall(set("preflight", "off"));
  if (settings.stride > 0) {
    PetscCall(set("schedule", "async"));
    PetscCall(set("interval", std::to_string(settings.stride)));
  }
  if (settings.anchors > 0) {
    PetscCall(set("schedule", "async"));
    PetscCall(set("anchors", std::to_string(settings.anchors)));
  }
  if (settings.checkpoints > 0) {
    if (settings.anchors <= 0 && settings.stride <= 0) PetscCall(set("schedule", "revolve"));
    PetscCall(set("checkpoints", std::to_string(settings.checkpoints)));
  }
  if (files_stay_ != PETSC_FALSE) PetscCall(set("keep", "on"));
  const std::string audit = settings.audit();
  PetscCheck(audit == "error" || audit == "exact" || audit == "warn" || audit == "off", comm_,
             PETSC_ERR_ARG_WRONG,
             "-ts_trajectory_anadrome_audit is %s; it is error, exact, warn or off", audit.c_str());
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    const std::string_view key = kKeys[i].name;
    if (key == "audit" || key == "preflight") continue;  // of the plugin's own
    if (!settings.values[i].empty()) PetscCall(set(kKeys[i].name, settings.values[i]));
  }
  if (!directory_.path().empty()) PetscCall(set("directory", directory_.path()));
  if (!directory_.name().empty()) PetscCall(set("name", directory_.name()));
  PetscCall(share_memory(tj));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::open(TSTrajectory tj) {
  PetscFunctionBegin;
  PetscCall(close());
  given_ = 0;
  PetscCall(check(anadrome_open(comm_, &run_)));
  PetscCall(directory_.choose(tj, settings_of(tj)));
  if (const std::string text = settings_of(tj).value_or_environment("checkpoint_interval");
      !text.empty()) {
    commit_interval_ = parse_seconds(text);
  }
  PetscCall(give_options(tj));
  if (most_kept_ > 0) PetscCall(directory_.require(comm_));
  PetscCall(check(anadrome_add_packed(run_, "solution", ANADROME_ROLE_STATE,
                                      state_shape_.bytes() + rest_bytes_, pack_state, unpack_state,
                                      this)));
  PetscCall(
      check(anadrome_add_field(run_, "step", ANADROME_ROLE_STATE, ANADROME_INT64, &live_.step, 1)));
  if (taped_) {
    PetscCall(check(anadrome_add_packed(run_, "record", ANADROME_ROLE_TAPE,
                                        tape_shape_.bytes() + sizeof(Live), pack_tape, unpack_tape,
                                        this)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::close() {
  PetscFunctionBegin;
  PetscCall(finish_reverse());
  PetscCall(check(anadrome_close(&run_)));
  PetscCall(replay_.destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

// SPDX-License-Identifier: BSD-2-Clause
// Sweep, first half: from the settings and what a TS holds to a run of the library.
#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "api/petsc/records/guard.h"
#include "api/petsc/sweep.h"
#include "base/byte_size.h"
#include "base/checked.h"
#include "base/words.h"

namespace anadrome::petsc {
namespace {

std::vector<Sweep*> opened;  // in the order in which all ranks opened them
bool at_finalize = false;

}  // namespace

// Of a TS that nobody destroyed, as after an error.
PetscErrorCode Sweep::close_all() {
  return guard([]() -> PetscErrorCode {
    PetscFunctionBegin;
    at_finalize = false;
    while (!opened.empty()) {
      Sweep& sweep = *opened.front();
      PetscCall(sweep.close());
      if (sweep.files_stay_ == PETSC_FALSE) sweep.leave_directory();
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

// In place of its own where there are others.
PetscErrorCode Sweep::check(anadrome_status status, const char* words) const {
  PetscFunctionBegin;
  if (status == ANADROME_OK) PetscFunctionReturn(PETSC_SUCCESS);
  PetscErrorCode code = PETSC_ERR_LIB;
  if (status == ANADROME_ERR_MEMORY) code = PETSC_ERR_MEM;
  if (status == ANADROME_ERR_ARGUMENT) code = PETSC_ERR_ARG_WRONG;
  if (status == ANADROME_ERR_UNSUPPORTED) code = PETSC_ERR_SUP;
  if (status == ANADROME_ERR_IO || status == ANADROME_ERR_NO_SPACE) code = PETSC_ERR_FILE_WRITE;
  if (status == ANADROME_ERR_CORRUPT) code = PETSC_ERR_FILE_UNEXPECTED;
  SETERRQ(comm_, code, "%s: %s", anadrome_status_name(status),
          words != nullptr ? words : anadrome_last_error());
}

// The library knows nothing of the plugin's own options, and got what these leave.
std::string Sweep::words_on(anadrome_status status, const Settings& settings) const {
  constexpr std::string_view kLeast = "at least ";
  std::string said = anadrome_last_error();
  if (status == ANADROME_ERR_MEMORY) {
    const std::size_t at = std::min(said.find(kLeast), said.size());
    std::int64_t least = 0;
    if (at != said.size())
      std::from_chars(&said[at] + kLeast.size(), said.data() + said.size(), least);
    const std::string enough =
        least > 0 ? ": it must be at least " + std::to_string(shares_.least_for(least)) + "B" : "";
    return "-ts_trajectory_anadrome_memory is " + format_bytes(shares_.memory) + ", too small" +
           enough + "; beside " + format_bytes(shares_.aside) +
           " of it for records that cannot be recomputed, " + (least > 0 ? said.substr(at) : said);
  }
  if (said.find("know the number of steps") != std::string::npos)
    return "set -ts_trajectory_anadrome_steps to that number: " + said;
  const bool of_anchors = settings.anchors > 0 && settings.value("disk").empty();
  if (of_anchors && said.find("disk=") != std::string::npos)
    return "-ts_trajectory_max_cps_disk sets the option disk, to what " +
           std::to_string(settings.anchors) + " states take and the first one again: " + said;
  return said;
}

PetscErrorCode Sweep::set(const char* key, const std::string& value) {
  PetscFunctionBegin;
  PetscCall(check(anadrome_set(run_, key, value.c_str())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// For so many states, of which both fields begin pages, x_0 once more, and the files themselves.
// Small states are written many at once.
std::int64_t Sweep::room_on_disk(std::int64_t states) const {
  constexpr std::int64_t kPage = 4096, kMiB = std::int64_t{1} << 20;
  PetscMPIInt ranks = 1;
  MPI_Comm_size(comm_, &ranks);
  const std::int64_t state = round_up(shares_.state, kPage) + kPage;
  const std::int64_t rest = state > kMiB ? kMiB : 16 * kMiB;
  return checked_multiply(ranks, checked_add(checked_multiply(states + 1, state), rest));
}

PetscErrorCode Sweep::give_options(TSTrajectory tj) {
  const Settings& settings = settings_of(tj);
  PetscFunctionBegin;
  for (const auto& [key, value] : words_of_environment()) {
    // The library looks for that at its begin, which there is none of where all records fit.
    PetscCheck(!sets_another_option(value), comm_, PETSC_ERR_ARG_WRONG,
               "ANADROME_OPTIONS: '%s=%s' has a comma before another option; a space is what "
               "separates options",
               key.c_str(), value.c_str());
    PetscCall(set(key.c_str(), value));
  }
  PetscCall(set("audit", "off"));  // every step that is run again has a fingerprint of its own
  if (settings.stride > 0) {
    PetscCall(set("schedule", "async"));
    PetscCall(set("interval", std::to_string(settings.stride)));
  }
  if (settings.anchors > 0) {
    PetscCall(set("schedule", "async"));
    PetscCall(set("disk", std::to_string(room_on_disk(settings.anchors)) + "B"));
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
  const std::string compress = in_small_letters(settings.value_or_environment("compress"));
  PetscCheck(compress.empty() || compress == "off" || compress == "lz4", comm_, PETSC_ERR_SUP,
             "-ts_trajectory_anadrome_compress is %s; steps of a TS are run again bit for bit: it "
             "is off or lz4",
             compress.c_str());
  if (!compress.empty()) PetscCall(set("compress", compress));
  PetscCheck(in_small_letters(settings.value_or_environment("schedule")) != "undo", comm_,
             PETSC_ERR_SUP,
             "-ts_trajectory_anadrome_schedule is undo, and no step of a TS can be undone");
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    const std::string_view key = kKeys[i].name;
    if (key == "audit" || key == "compress") continue;  // above
    if (!settings.values[i].empty()) PetscCall(set(kKeys[i].name, settings.values[i]));
  }
  if (settings.resumes()) {  // by these words the library knows who commits adjoint variables
    const std::string problem = settings.value_or_environment("problem");
    PetscCall(set("problem", problem.empty() ? "TS" : "TS: " + problem));
  }
  PetscCall(set("directory", directory_.path()));
  if (!directory_.name().empty()) PetscCall(set("name", directory_.name()));
  if (shares_.files_stay) {  // the follower's
    PetscCall(set("keep", "off"));
    PetscCall(set("name", directory_.name_in_use() + "-records"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::open(TSTrajectory tj) {
  PetscFunctionBegin;
  PetscCall(close());
  given_ = 0;
  PetscCall(check(anadrome_open(comm_, &run_)));
  if (!at_finalize) PetscCall(PetscRegisterFinalize(close_all));
  at_finalize = true;
  opened.push_back(this);
  PetscCall(directory_.choose(tj, settings_of(tj)));
  settings_of(tj).fix_files();
  report_ = settings_of(tj).value_or_environment("report");
  PetscCall(share_memory(tj, settings_of(tj), state_shape_.bytes() + rest_bytes_,
                         tape_shape_.bytes(), &shares_));
  PetscCall(give_options(tj));
  if (shares_.most_kept > 0) PetscCall(directory_.require(comm_));
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
  std::erase(opened, this);
  PetscCall(finish_reverse());
  PetscCall(follower_.close());
  PetscCall(check(anadrome_close(&run_)));
  PetscCall(replay_.destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

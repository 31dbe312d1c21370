// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/settings/follower.h"

#include <algorithm>
#include <array>
#include <string>

namespace anadrome::petsc {
namespace {

constexpr std::array kReports = {"progress", "trace", "watchdog"};
constexpr std::array kOthers = {"wait_for_lock", "layout",          "transport",
                                "disk",          "bandwidth_limit", "compress"};

bool is_off(const std::string& value) { return value.empty() || value == "off" || value == "0"; }

int stay_as_it_is(void*, const void*, std::size_t) { return 0; }

}  // namespace

bool Follower::wanted(const Settings& settings) {
  return std::any_of(kReports.begin(), kReports.end(),
                     [&](const char* key) { return !is_off(settings.value_or_environment(key)); });
}

PetscErrorCode Follower::check(anadrome_status status) const {
  PetscFunctionBegin;
  PetscCheck(status == ANADROME_OK, comm_, PETSC_ERR_LIB, "%s: %s", anadrome_status_name(status),
             anadrome_last_error());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Follower::open(const Settings& settings, const Directory& directory,
                              const MemoryShares& shares, const Solution& solution) {
  PetscFunctionBegin;
  PetscCall(check(anadrome_open(comm_, &run_)));
  const auto set = [&](const char* key, const std::string& value) {
    return value.empty() ? ANADROME_OK : anadrome_set(run_, key, value.c_str());
  };
  const bool files = solution.pack != nullptr;
  PetscCall(check(set("schedule", files ? "async" : "store_all")));
  PetscCall(check(set("keep", files ? "on" : "off")));
  PetscCall(check(set("memory", std::to_string(shares.follower) + "B")));
  for (const char* key : {"audit", "report"}) PetscCall(check(set(key, "off")));
  for (const char* key : kReports) PetscCall(check(set(key, settings.value(key))));
  for (const char* key : kOthers) PetscCall(check(set(key, settings.value(key))));
  PetscCall(check(set("directory", directory.path())));
  PetscCall(check(set("name", directory.name())));
  if (files) {
    PetscCall(check(anadrome_add_packed(run_, "solution", ANADROME_ROLE_STATE, solution.bytes,
                                        solution.pack, stay_as_it_is, solution.self)));
  }
  PetscCall(
      check(anadrome_add_field(run_, "step", ANADROME_ROLE_STATE, ANADROME_INT64, &step_, 1)));
  shows_reverse_ = shares.reports;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Follower::begin(MPI_Comm comm, const Settings& settings, const Directory& directory,
                               const MemoryShares& shares, const Solution& solution) {
  PetscFunctionBegin;
  comm_ = comm;
  if (run_ == nullptr) PetscCall(open(settings, directory, shares, solution));
  step_ = 0;
  action_ = {};
  forward_ = on_ = true;
  PetscCall(check(anadrome_begin(run_, ANADROME_STEPS_UNKNOWN)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Follower::next() {
  PetscFunctionBegin;
  PetscCall(check(anadrome_next(run_, &action_)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Follower::step_done(PetscInt step) {
  PetscFunctionBegin;
  step_ = step;
  if (on_ && forward_ && action_.last == step) PetscCall(next());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Records that are asked for a second time are not followed.
PetscErrorCode Follower::back_to(PetscInt steps, PetscInt step) {
  PetscFunctionBegin;
  if (!on_) PetscFunctionReturn(PETSC_SUCCESS);
  if (forward_) {
    PetscCall(check(anadrome_finish_forward(run_, steps)));
    while (action_.kind == ANADROME_ADVANCE) PetscCall(next());
  }
  forward_ = false;
  if (!shows_reverse_) PetscFunctionReturn(PETSC_SUCCESS);
  while (action_.kind != ANADROME_DONE &&
         (action_.kind != ANADROME_ADJOINT || action_.first >= step)) {
    PetscCall(next());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Follower::close() {
  PetscFunctionBegin;
  on_ = false;
  PetscCall(check(anadrome_close(&run_)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

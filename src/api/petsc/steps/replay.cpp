// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/steps/replay.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "api/petsc/steps/suspension.h"
#include "base/arithmetic.h"
#include "base/text_out.h"

namespace anadrome::petsc {
namespace {

// Refuses what was refused the first time.
PetscErrorCode choose_as_recorded(TSAdapt adapt, TS, PetscReal h, PetscInt* scheme, PetscReal* next,
                                  PetscBool* accept, PetscReal* wlte, PetscReal* wltea,
                                  PetscReal* wlter) {
  auto& sizes = *static_cast<std::vector<PetscReal>*>(adapt->data);
  PetscFunctionBegin;
  if (!sizes.empty()) sizes.pop_back();
  *accept = sizes.empty() ? PETSC_TRUE : PETSC_FALSE;
  *next = sizes.empty() ? h : sizes.back();
  *scheme = 0;
  *wlte = *wltea = *wlter = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode Replay::run(TS ts, PetscInt from, PetscInt to, const StepNotes& notes) {
  PetscFunctionBegin;
  if (as_recorded_ == nullptr) {
    PetscCall(TSAdaptCreate(comm_of(ts), &as_recorded_));
    PetscCall(TSAdaptSetType(as_recorded_, TSADAPTNONE));
    as_recorded_->ops->choose = choose_as_recorded;
  }
  as_recorded_->data = &sizes_;
  // Criteria of the program's that look at stages see what they saw, and find it good.
  as_recorded_->checkstage = ts->adapt != nullptr ? ts->adapt->checkstage : nullptr;
  Suspension suspension;
  PetscCall(suspension.begin(ts, as_recorded_));
  const PetscErrorCode outcome = take_steps(ts, from, to, notes);
  PetscCall(suspension.end(ts));
  PetscCall(outcome);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Replay::take_step(TS ts, const StepCalls& how) {
  PetscFunctionBegin;
  ts->steprestart = how.restarted ? PETSC_TRUE : PETSC_FALSE;
  for (std::size_t i = 0; i < how.calls.size() && ts->reason >= 0; ++i) {
    if (i > 0) PetscCall(TSRollBack(ts));
    sizes_.assign(1, how.calls[i].size);
    sizes_.insert(sizes_.end(), how.calls[i].refused.rbegin(), how.calls[i].refused.rend());
    ts->time_step = sizes_.back();
    PetscCall(TSStep(ts));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Replay::take_steps(TS ts, PetscInt from, PetscInt to, const StepNotes& notes) {
  PetscFunctionBegin;
  for (PetscInt step = from; step < to && !failed_; ++step) {
    ts->ptime = notes.at(step + 1).previous_time;
    ts->ptime_prev = notes.at(step).previous_time;
    ts->steps = step;
    PetscCall(take_step(ts, notes.calls(step + 1)));
    if (ts->reason < 0) {
      failed_ = true;
      steps_.push_back(step + 1);
      break;
    }
    ts->ptime = notes.at(step + 1).time;
    if (ts->forward_solve) {
      ts->time_step = notes.at(step + 1).next_size;  // as TSSolve has it then
      ts->steps = step;
      PetscCall(TSForwardStep(ts));
    }
    PetscCall(compare(ts, step + 1, notes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Replay::compare(TS ts, PetscInt step, const StepNotes& notes) {
  PetscFunctionBegin;
  PetscCall(fingerprint(ts->vec_sol, notes.fields(), &now_));
  const OwnArithmetic own;
  steps_.push_back(step);
  for (std::size_t field = 0; field < notes.fields(); ++field) {
    const double now = now_.products[field], first = notes.product(step, field);
    const bool same = now == first || (std::isnan(now) && std::isnan(first));
    const double difference = same ? 0 : now - first;
    differences_.push_back(difference * difference);
  }
  norms_.insert(norms_.end(), now_.squares.begin(), now_.squares.end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Replay::judge(TS ts, const StepNotes& notes, PetscReal tolerance,
                             std::string_view audit) {
  // Rounding of a large field gets into a small one.
  constexpr double kRounding = 1e-14;
  PetscFunctionBegin;
  const std::vector<PetscInt> steps = std::exchange(steps_, {});
  std::vector<double> differences = std::exchange(differences_, {});
  std::vector<double> norms = std::exchange(norms_, {});
  const bool failed = std::exchange(failed_, false);
  const char* const advice =
      "something changes between steps that is not part of the solution (a right-hand side that is "
      "switched, a solution edited in PostStep, a -ts_type that keeps something of its own from "
      "step "
      "to step), or its solvers stop early (tighten them, or raise "
      "-ts_trajectory_anadrome_replay_tolerance). Or keep every record: "
      "-ts_trajectory_anadrome_schedule store_all";
  PetscCheck(!failed, comm_of(ts), PETSC_ERR_USER,
             "step %" PetscInt_FMT " cannot be run again: its solver failed this time; %s",
             steps.back(), advice);
  if (steps.empty() || audit == "off") PetscFunctionReturn(PETSC_SUCCESS);
  for (std::vector<double>* sums : {&differences, &norms}) {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums->data(), static_cast<int>(sums->size()),
                               MPI_DOUBLE, MPI_SUM, comm_of(ts)));
  }
  const OwnArithmetic own;
  const std::size_t fields = notes.fields();
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const auto first = norms.begin() + static_cast<std::ptrdiff_t>(i / fields * fields);
    const double whole = std::accumulate(first, first + static_cast<std::ptrdiff_t>(fields), 0.0);
    const double difference = std::sqrt(differences[i]), norm = std::sqrt(norms[i]);
    const double allowed = audit == "exact" ? 0 : tolerance * norm + kRounding * std::sqrt(whole);
    if (difference == 0 || difference <= allowed) continue;
    char text[1000];
    PetscCall(
        PetscSNPrintf(text, sizeof text,
                      "step %" PetscInt_FMT
                      " run again differs from the first time by %s of its norm (field %zu "
                      "of %zu); %s",
                      steps[i / fields],
                      format_number(difference / norm, std::chars_format::scientific, 1).c_str(),
                      i % fields + 1, fields, advice));
    PetscCheck(audit == "warn", comm_of(ts), PETSC_ERR_USER, "%s", text);
    PetscCall(PetscFPrintf(comm_of(ts), PETSC_STDERR, "anadrome: %s\n", text));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Replay::destroy() {
  PetscFunctionBegin;
  if (as_recorded_ != nullptr) as_recorded_->data = nullptr;
  PetscCall(TSAdaptDestroy(&as_recorded_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

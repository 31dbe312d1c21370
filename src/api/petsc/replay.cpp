#include "api/petsc/replay.h"

#include <petsc/private/kspimpl.h>
#include <petsc/private/snesimpl.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace anadrome::petsc {
namespace {

MPI_Comm comm_of(TS ts) { return PetscObjectComm(reinterpret_cast<PetscObject>(ts)); }

// What a TS says while it steps, and what it counts: put away during a replay.
struct Suspended {
  TSAdapt adapt;
  TSEvent event;
  TSTimeSpan tspan;
  TSConvergedReason reason;
  PetscBool error_if_step_failed, steprollback;
  PetscInt steps, ksp_its, snes_its, reject, snes_failures;
  PetscInt ifuncs, rhsfuncs, ijacs, rhsjacs;
  PetscReal time, previous_time, previous_time_rollback, size;
  KSP ksp = nullptr;
  PetscInt snes_monitors = 0, snes_reasons = 0, ksp_monitors = 0, ksp_reasons = 0;
  struct {
    Vec live = nullptr, copy = nullptr;
  } vectors[2];            ///< the solver's, where they matter afterwards
  Mat integral = nullptr;  ///< integrated forward sensitivities: a result, not a part of a record
};

PetscErrorCode silence(TS ts, Suspended& was) {
  PetscFunctionBegin;
  if (ts->snes == nullptr || !ts->usessnes) PetscFunctionReturn(0);
  PetscCall(SNESGetKSP(ts->snes, &was.ksp));
  was.snes_monitors = std::exchange(ts->snes->numbermonitors, 0);
  was.snes_reasons = std::exchange(ts->snes->numberreasonviews, 0);
  was.ksp_monitors = std::exchange(was.ksp->numbermonitors, 0);
  was.ksp_reasons = std::exchange(was.ksp->numberreasonviews, 0);
  PetscFunctionReturn(0);
}

// A Jacobian by coloured differences takes the solver's right-hand side off the values, and its
// last residual for the value at its last solution. After a replay these would be others than in a
// program that did not replay, and the noise of the differences with them. Not where such a vector
// is a stage, which is what was asked for.
PetscErrorCode hold_solver_vectors(TS ts, Suspended& was) {
  PetscObject coloring = nullptr;
  PetscInt count = 0;
  Vec* stages = nullptr;
  PetscFunctionBegin;
  if (was.ksp == nullptr || ts->snes->jacobian_pre == nullptr) PetscFunctionReturn(0);
  PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(ts->snes->jacobian_pre),
                             "SNESMatFDColoring", &coloring));
  if (coloring == nullptr) PetscFunctionReturn(0);
  PetscCall(TSGetStages(ts, &count, &stages));
  was.vectors[0].live = ts->snes->vec_sol;
  was.vectors[1].live = ts->snes->vec_rhs;
  for (auto& [live, copy] : was.vectors) {
    const bool stage = std::find(stages, stages + count, live) != stages + count;
    if (live == nullptr || live == ts->vec_sol || stage) continue;
    PetscCall(VecDuplicate(live, &copy));
    PetscCall(VecCopy(live, copy));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode suspend(TS ts, TSAdapt as_recorded, Suspended& was) {
  PetscFunctionBegin;
  was.adapt = std::exchange(ts->adapt, as_recorded);
  was.event = std::exchange(ts->event, nullptr);
  was.tspan = std::exchange(ts->tspan, nullptr);
  was.reason = ts->reason;
  was.error_if_step_failed = std::exchange(ts->errorifstepfailed, PETSC_FALSE);
  was.steprollback = std::exchange(ts->steprollback, PETSC_FALSE);
  was.steps = ts->steps;
  was.ksp_its = ts->ksp_its;
  was.snes_its = ts->snes_its;
  was.reject = ts->reject;
  was.snes_failures = ts->num_snes_failures;
  was.ifuncs = ts->ifuncs;
  was.rhsfuncs = ts->rhsfuncs;
  was.ijacs = ts->ijacs;
  was.rhsjacs = ts->rhsjacs;
  was.time = ts->ptime;
  was.previous_time = ts->ptime_prev;
  was.previous_time_rollback = ts->ptime_prev_rollback;
  was.size = ts->time_step;
  PetscCall(silence(ts, was));
  PetscCall(hold_solver_vectors(ts, was));
  if (ts->forward_solve && ts->quadraturets != nullptr && ts->quadraturets->mat_sensip != nullptr) {
    PetscCall(MatDuplicate(ts->quadraturets->mat_sensip, MAT_COPY_VALUES, &was.integral));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode resume(TS ts, Suspended& was) {
  PetscFunctionBegin;
  ts->adapt = was.adapt;
  ts->event = was.event;
  ts->tspan = was.tspan;
  ts->reason = was.reason;
  ts->errorifstepfailed = was.error_if_step_failed;
  ts->steprollback = was.steprollback;
  // What a method has of earlier steps (the last stage of an FSAL method) is now of other steps.
  ts->steprestart = PETSC_TRUE;
  ts->steps = was.steps;
  ts->ksp_its = was.ksp_its;
  ts->snes_its = was.snes_its;
  ts->reject = was.reject;
  ts->num_snes_failures = was.snes_failures;
  ts->ifuncs = was.ifuncs;
  ts->rhsfuncs = was.rhsfuncs;
  ts->ijacs = was.ijacs;
  ts->rhsjacs = was.rhsjacs;
  ts->ptime = was.time;
  ts->ptime_prev = was.previous_time;
  ts->ptime_prev_rollback = was.previous_time_rollback;
  ts->time_step = was.size;
  if (was.ksp != nullptr) {
    ts->snes->numbermonitors = was.snes_monitors;
    ts->snes->numberreasonviews = was.snes_reasons;
    was.ksp->numbermonitors = was.ksp_monitors;
    was.ksp->numberreasonviews = was.ksp_reasons;
  }
  for (auto& [live, copy] : was.vectors) {
    if (copy == nullptr) continue;
    PetscCall(VecCopy(copy, live));
    PetscCall(VecDestroy(&copy));
  }
  if (was.integral != nullptr) {
    PetscCall(MatCopy(was.integral, ts->quadraturets->mat_sensip, SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&was.integral));
  }
  PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode Replay::run(TS ts, PetscInt from, PetscInt to, const Journal& journal) {
  PetscFunctionBegin;
  if (as_recorded_ == nullptr) {
    PetscCall(TSAdaptCreate(comm_of(ts), &as_recorded_));
    PetscCall(TSAdaptSetType(as_recorded_, TSADAPTNONE));
  }
  // Criteria of the program's that look at stages see what they saw, and find it good.
  as_recorded_->checkstage = ts->adapt != nullptr ? ts->adapt->checkstage : nullptr;
  Suspended was{};
  PetscCall(suspend(ts, as_recorded_, was));
  const PetscErrorCode outcome = take_steps(ts, from, to, journal);
  PetscCall(resume(ts, was));
  PetscCall(outcome);
  PetscFunctionReturn(0);
}

PetscErrorCode Replay::take_steps(TS ts, PetscInt from, PetscInt to, const Journal& journal) {
  PetscFunctionBegin;
  ts->steprestart = PETSC_TRUE;
  ts->ptime = journal.at(from).time;
  ts->ptime_prev = ts->ptime;
  for (PetscInt step = from; step < to && !failed_; ++step) {
    ts->steps = step;
    ts->time_step = journal.step_size(step);
    PetscCall(TSStep(ts));
    if (ts->reason < 0) {
      failed_ = true;
      steps_.push_back(step + 1);
      break;
    }
    ts->ptime = journal.at(step + 1).time;
    if (ts->forward_solve) {
      ts->time_step = journal.at(step + 1).next_size;  // as TSSolve has it then
      ts->steps = step;
      PetscCall(TSForwardStep(ts));
    }
    PetscCall(compare(ts, step + 1, journal));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode Replay::compare(TS ts, PetscInt step, const Journal& journal) {
  PetscFunctionBegin;
  PetscCall(fingerprint(ts->vec_sol, journal.fields(), &now_));
  steps_.push_back(step);
  for (std::size_t field = 0; field < journal.fields(); ++field) {
    const double now = now_.products[field], first = journal.product(step, field);
    const bool same = now == first || (std::isnan(now) && std::isnan(first));
    const double difference = same ? 0 : now - first;
    differences_.push_back(difference * difference);
  }
  norms_.insert(norms_.end(), now_.squares.begin(), now_.squares.end());
  PetscFunctionReturn(0);
}

PetscErrorCode Replay::judge(TS ts, const Journal& journal, PetscReal tolerance) {
  // Rounding of a large field gets into a small one.
  constexpr double kRounding = 1e-14;
  PetscFunctionBegin;
  const std::vector<PetscInt> steps = std::exchange(steps_, {});
  std::vector<double> differences = std::exchange(differences_, {});
  std::vector<double> norms = std::exchange(norms_, {});
  const bool failed = std::exchange(failed_, false);
  const char* const advice =
      "something changes between steps that is not part of the solution (a right-hand side that is "
      "switched, a solution edited in PostStep), or its solvers stop early (tighten them, or raise "
      "-ts_trajectory_anadrome_replay_tolerance). Or keep every record: "
      "-ts_trajectory_anadrome_schedule store_all";
  PetscCheck(!failed, comm_of(ts), PETSC_ERR_USER,
             "step %" PetscInt_FMT " cannot be run again: its solver failed this time; %s",
             steps.back(), advice);
  if (steps.empty()) PetscFunctionReturn(0);
  for (std::vector<double>* sums : {&differences, &norms}) {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums->data(), static_cast<int>(sums->size()),
                               MPI_DOUBLE, MPI_SUM, comm_of(ts)));
  }
  const std::size_t fields = journal.fields();
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const auto first = norms.begin() + static_cast<std::ptrdiff_t>(i / fields * fields);
    const double whole = std::accumulate(first, first + static_cast<std::ptrdiff_t>(fields), 0.0);
    const double difference = std::sqrt(differences[i]), norm = std::sqrt(norms[i]);
    PetscCheck(difference == 0 || difference <= tolerance * norm + kRounding * std::sqrt(whole),
               comm_of(ts), PETSC_ERR_USER,
               "step %" PetscInt_FMT
               " run again differs from the first time by %.1e of its norm (field %zu of %zu); "
               "%s",
               steps[i / fields], difference / norm, i % fields + 1, fields, advice);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode Replay::destroy() {
  PetscFunctionBegin;
  PetscCall(TSAdaptDestroy(&as_recorded_));
  PetscFunctionReturn(0);
}

}  // namespace anadrome::petsc

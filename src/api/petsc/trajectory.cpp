// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/trajectory.h"

#include <utility>

#include "api/petsc/records/guard.h"

namespace anadrome::petsc {
namespace {

// ---- set ----

PetscErrorCode keep_whole(TSTrajectory tj, TS ts, PetscInt step, RecordParts parts,
                          bool starts_anew) {
  KeptRecord record;
  PetscFunctionBegin;
  PetscCall(make_record(ts, ts->vec_sol, parts, &record));
  record.time = ts->ptime;
  record.previous_time = ts->ptime_prev;
  record.starts_anew = starts_anew;
  Resumption& resumption = data_of(tj).sweep.resumption();
  if (resumption.on()) PetscCall(resumption.add_record(ts, step, record));
  if (data_of(tj).sweep.keeps_all()) {
    data_of(tj).kept.put_back(step, std::move(record));
  } else {
    PetscCall(data_of(tj).kept.put(comm_of(tj), step, std::move(record)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A record that is not the next one of a forward sweep, or will be asked for in any order.
PetscErrorCode set_by_number(TSTrajectory tj, TS ts, PetscInt step, PetscReal time, Vec X,
                             RecordParts parts) {
  Trajectory& trajectory = data_of(tj);
  KeptRecord record;
  PetscFunctionBegin;
  if (trajectory.sweep.run() == nullptr) {
    std::int64_t memory = 0;
    PetscCall(memory_asked(trajectory.settings, &memory));
    trajectory.kept.set_limit(memory);
  }
  PetscCall(make_record(ts, X, parts, &record));
  record.time = time;
  record.previous_time = ts != nullptr ? ts->ptime_prev : time;
  record.by_number = true;
  trajectory.sweep.pass_over();
  PetscCall(trajectory.kept.put(comm_of(tj), step, std::move(record)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode leap(TSTrajectory tj) {
  Trajectory& trajectory = data_of(tj);
  const PetscInt step = trajectory.sweep.next_leap();
  PetscFunctionBegin;
  PetscCall(trajectory.sweep.leap(trajectory.kept));
  trajectory.ended_or_jumped = trajectory.sweep.resumption().event_or_end(step);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode begin_sweep(TSTrajectory tj, TS ts, PetscInt step) {
  Trajectory& trajectory = data_of(tj);
  PetscFunctionBegin;
  trajectory.kept.clear();
  PetscCall(trajectory.sweep.begin(tj, ts, step, trajectory.kept));
  if (trajectory.sweep.returning()) {
    PetscCall(leap(tj));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const RecordParts parts = step == 0 ? RecordParts::kState : RecordParts::kWhole;
  PetscCall(keep_whole(tj, ts, step, parts, true));
  PetscCall(trajectory.sweep.hand_on(tj, trajectory.kept));
  trajectory.ended_or_jumped = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode extend_sweep(TSTrajectory tj, TS ts, PetscInt step) {
  Trajectory& trajectory = data_of(tj);
  PetscFunctionBegin;
  bool jumped = false;
  PetscCall(trajectory.sweep.step_done(step, &jumped));
  const bool starts_anew = jumped || ts->reason != TS_CONVERGED_ITERATING;
  // The first record after: the program may have gone on from another solution.
  const bool after = std::exchange(trajectory.ended_or_jumped, starts_anew);
  const bool kept = starts_anew || after;
  if (kept || trajectory.sweep.keeps_all()) {
    PetscCall(keep_whole(tj, ts, step, RecordParts::kWhole, kept));
  }
  PetscCall(trajectory.sweep.hand_on(tj, trajectory.kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set(TSTrajectory tj, TS ts, PetscInt step, PetscReal time, Vec X) {
  return guard([&]() -> PetscErrorCode {
    Trajectory& trajectory = data_of(tj);
    PetscFunctionBegin;
    if (ts != nullptr && StepWatch::is_inner(ts)) PetscFunctionReturn(PETSC_SUCCESS);
    const bool by_solver = ts != nullptr && step == ts->steps && X == ts->vec_sol;
    if (by_solver && ts->reason < 0 && trajectory.sweep.ends_with(step)) {
      PetscFunctionReturn(PETSC_SUCCESS);  // the step after this record failed
    }
    if (!by_solver || tj->adjoint_solve_mode == PETSC_FALSE) {
      if (by_solver && step == 0) trajectory.kept.clear();
      const bool stages = ts != nullptr && step > 0 && tj->solution_only == PETSC_FALSE;
      PetscCall(set_by_number(tj, ts, step, time, X,
                              stages ? RecordParts::kWhole : RecordParts::kSolution));
    } else if (step > 0 && step == trajectory.sweep.next_leap() && ts == trajectory.sweep.ts()) {
      PetscCall(leap(tj));
    } else if (step == 0 || trajectory.sweep.run() == nullptr) {
      PetscCall(begin_sweep(tj, ts, step));
    } else if (trajectory.sweep.goes_on_with(step) && ts == trajectory.sweep.ts()) {
      PetscCall(extend_sweep(tj, ts, step));
    } else {  // forward again from where the reverse sweep is
      PetscCall(set_by_number(tj, ts, step, time, X, RecordParts::kWhole));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

// ---- get ----

// A lagged Jacobian or preconditioner is made anew when the number of the iteration is a multiple
// of the lag. TSAdjointStep has no iterations: whether it got those of its own step would depend on
// how many the last solve happened to need, and on which step that was of.
void undo_lags(TS ts) {
  if (ts->snes == nullptr || !ts->usessnes) return;
  SNES snes = ts->snes;
  if (snes->lagjacobian > 1) {
    snes->iter = snes->lagjacobian - snes->jac_iter % snes->lagjacobian;
  }
  if (snes->lagpreconditioner > 1) {
    snes->pre_iter = snes->lagpreconditioner - snes->iter % snes->lagpreconditioner;
  }
}

PetscErrorCode hand_over(TSTrajectory tj, TS ts, PetscInt step, PetscReal time,
                         PetscReal previous_time, PetscReal* t) {
  PetscFunctionBegin;
  *t = time;
  if (step > 0 && tj->adjoint_solve_mode != PETSC_FALSE) {
    PetscCall(TSSetTimeStep(ts, previous_time - time));
    undo_lags(ts);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Record `step`, which is not kept in full, to the TS that ran it.
PetscErrorCode bring(TSTrajectory tj, PetscInt step) {
  Trajectory& trajectory = data_of(tj);
  PetscFunctionBegin;
  if (trajectory.kept.state(step) != nullptr) {  // one of the first ones
    const KeptRecord* before = trajectory.kept.state(step - 1);
    if (before == nullptr) before = trajectory.kept.find(step - 1);
    PetscCheck(before != nullptr, comm_of(tj), PETSC_ERR_ARG_OUTOFRANGE,
               "no record before that of step %" PetscInt_FMT " is left", step);
    PetscCall(trajectory.sweep.bring_from(tj, step, *before));
  } else {
    PetscCall(trajectory.sweep.bring(tj, step, trajectory.kept));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// For another TS than the one that made the sweep: only the solution, through the one that did.
PetscErrorCode bring_to_other(TSTrajectory tj, TS ts, PetscInt step) {
  Trajectory& trajectory = data_of(tj);
  const TS own = trajectory.sweep.ts();
  Vec kept = nullptr, X = nullptr;
  PetscFunctionBegin;
  PetscCheck(
      own != nullptr && own->vec_sol != nullptr, comm_of(tj), PETSC_ERR_ARG_WRONGSTATE,
      "the TS that ran the steps was destroyed or reset: it cannot bring record %" PetscInt_FMT
      " back",
      step);
  PetscCall(VecDuplicate(own->vec_sol, &kept));
  PetscCall(VecCopy(own->vec_sol, kept));
  PetscCall(bring(tj, step));
  PetscCall(TSGetSolution(ts, &X));
  PetscCall(VecCopy(own->vec_sol, X));
  PetscCall(VecCopy(kept, own->vec_sol));
  PetscCall(VecDestroy(&kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// In TSAdjointSolve with resume=on: commits are made, and the first record asked for may be that of
// the step an earlier process had reached.
PetscErrorCode in_adjoint(TSTrajectory tj, TS ts, PetscInt* step) {
  Trajectory& trajectory = data_of(tj);
  Resumption& resumption = trajectory.sweep.resumption();
  const bool adjoining = ts->reason == TS_CONVERGED_ITERATING && ts->adjoint_max_steps > 0 &&
                         ts->vecs_sensi != nullptr && *step == ts->steps;
  PetscFunctionBegin;
  if (!resumption.on() || ts != trajectory.sweep.ts()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(resumption.put_rest(ts));
  if (!adjoining || *step == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (ts->adjoint_steps == 0) {
    PetscCall(resumption.begin_adjoint(ts, *step, trajectory.kept, step));
  } else {
    PetscCall(resumption.before_adjoint_step(ts, *step));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get(TSTrajectory tj, TS ts, PetscInt step, PetscReal* t) {
  return guard([&]() -> PetscErrorCode {
    Trajectory& trajectory = data_of(tj);
    PetscFunctionBegin;
    PetscCheck(ts->vec_sol != nullptr, comm_of(tj), PETSC_ERR_ARG_WRONGSTATE,
               "the TS has no solution to put record %" PetscInt_FMT " into", step);
    PetscCall(in_adjoint(tj, ts, &step));
    if (tj->adjoint_solve_mode != PETSC_FALSE) {
      bool ended = false;
      PetscCall(trajectory.sweep.asked_for(step, &ended));
      if (ended) PetscCall(report_kept(tj));
    }
    if (const KeptRecord* record = trajectory.kept.find(step); record != nullptr) {
      const bool adjoins = step > 0 && tj->adjoint_solve_mode != PETSC_FALSE;
      if (adjoins && ts == trajectory.sweep.ts()) PetscCall(require_place(ts, step, record->form));
      PetscCall(record_from_bytes(ts, record->shape, record->bytes.data()));
      // What the method keeps of earlier steps is this record's now, and not the last step's.
      if (record->shape.memory > 0) ts->steprestart = PETSC_TRUE;
      PetscCall(hand_over(tj, ts, step, record->time, record->previous_time, t));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCheck(trajectory.sweep.holds(step) || trajectory.kept.state(step) != nullptr, comm_of(tj),
               PETSC_ERR_ARG_OUTOFRANGE, "there is no record of step %" PetscInt_FMT, step);
    if (ts == trajectory.sweep.ts()) {
      PetscCall(bring(tj, step));
    } else {
      PetscCall(bring_to_other(tj, ts, step));
    }
    PetscCall(count_transfers(tj));
    const StepNote& note = trajectory.sweep.notes().at(step);
    PetscCall(hand_over(tj, ts, step, note.time, note.previous_time, t));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

PetscErrorCode set_from_options(TSTrajectory tj, OptionItems PetscOptionsObject) {
  return guard([&] { return read_settings(PetscOptionsObject, &settings_of(tj)); });
}

PetscErrorCode reset(TSTrajectory tj) {
  return guard([&]() -> PetscErrorCode {
    PetscFunctionBegin;
    data_of(tj).kept.clear();
    PetscCall(data_of(tj).sweep.close());
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

// Without reset before it when the type is changed. When the trajectory itself goes, PETSc would
// then remove all of -ts_trajectory_dirname, whoever made it and whatever else is in it.
PetscErrorCode destroy(TSTrajectory tj) {
  PetscFunctionBegin;
  PetscCall(reset(tj));
  data_of(tj).sweep.leave_ts();
  if (tj->keepfiles == PETSC_FALSE) {
    data_of(tj).sweep.leave_directory();
    const bool type_alone = reinterpret_cast<PetscObject>(tj)->refct > 0;
    if (!type_alone) PetscCall(PetscFree(tj->dirname));
  }
  PetscCall(compose_settings(tj, false));
  delete &data_of(tj);
  tj->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

Trajectory& data_of(TSTrajectory tj) { return *static_cast<Trajectory*>(tj->data); }

Settings& settings_of(TSTrajectory tj) { return data_of(tj).settings; }

PetscErrorCode create_trajectory(TSTrajectory tj, TS) {
  return guard([&]() -> PetscErrorCode {
    PetscFunctionBegin;
    tj->data = new Trajectory;
    tj->ops->set = set;
    tj->ops->get = get;
    tj->ops->setfromoptions = set_from_options;
    tj->ops->view = [](TSTrajectory seen, PetscViewer viewer) {
      return guard([&] { return view_trajectory(seen, viewer); });
    };
    tj->ops->reset = reset;
    tj->ops->destroy = destroy;
    PetscCall(compose_settings(tj, true));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

}  // namespace anadrome::petsc

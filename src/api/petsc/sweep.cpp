// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/sweep.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/petsc/log.h"
#include "base/clock.h"

namespace anadrome::petsc {

// ---- what the library keeps and restores ----

int Sweep::pack_state(void* self, void* buffer, std::size_t) {
  const auto* sweep = static_cast<Sweep*>(self);
  auto* const to = static_cast<std::byte*>(buffer);
  PetscFunctionBegin;
  PetscCall(record_to_bytes(sweep->ts_, sweep->ts_->vec_sol, sweep->state_shape_, to));
  std::byte* const rest = to + sweep->state_shape_.bytes();
  if (sweep->rest_bytes_ > 0 && sweep->forward_) {
    PetscCall(going_on_to_bytes(sweep->ts_, rest));
  } else {
    std::fill_n(rest, sweep->rest_bytes_, std::byte{});
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int Sweep::unpack_state(void* self, const void* buffer, std::size_t) {
  auto* sweep = static_cast<Sweep*>(self);
  if (sweep->over_) return 0;
  if (sweep->arriving_) {
    const auto* from = static_cast<const std::byte*>(buffer);
    const std::byte* const rest = from + sweep->state_shape_.bytes();
    sweep->resumption_.set_state({from, rest}, {rest, sweep->rest_bytes_});
    return 0;
  }
  sweep->live_.complete = 0;  // the number of the step is a field of its own
  return record_from_bytes(sweep->ts_, sweep->state_shape_, static_cast<const std::byte*>(buffer));
}

int Sweep::pack_tape(void* self, void* buffer, std::size_t) {
  const auto* sweep = static_cast<Sweep*>(self);
  std::memcpy(buffer, &sweep->live_, sizeof(Live));
  return record_to_bytes(sweep->ts_, sweep->ts_->vec_sol, sweep->tape_shape_,
                         static_cast<std::byte*>(buffer) + sizeof(Live));
}

int Sweep::unpack_tape(void* self, const void* buffer, std::size_t) {
  auto* sweep = static_cast<Sweep*>(self);
  if (sweep->over_) return 0;
  std::memcpy(&sweep->live_, buffer, sizeof(Live));
  return record_from_bytes(sweep->ts_, sweep->tape_shape_,
                           static_cast<const std::byte*>(buffer) + sizeof(Live));
}

PetscErrorCode Sweep::next() {
  anadrome_stats before{}, after{};
  before.size = after.size = sizeof before;
  LogEvents events;
  PetscFunctionBegin;
  PetscCall(log_events(&events));
  const PetscLogEvent event = forward_ ? events.keep : events.restore;
  PetscCall(check(anadrome_statistics(run_, &before)));
  PetscCall(PetscLogEventBegin(event, ts_->trajectory, ts_, 0, 0));
  const anadrome_status status = anadrome_next(run_, &action_);
  PetscCall(PetscLogEventEnd(event, ts_->trajectory, ts_, 0, 0));
  PetscCall(check(status));
  PetscCall(check(anadrome_statistics(run_, &after)));
  const auto waited = [](const anadrome_stats& stats) {
    return stats.seconds_stalled_write + stats.seconds_stalled_read + stats.seconds_agreeing;
  };
  PetscCall(log_seconds(events.wait, waited(after) - waited(before)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- forward ----

// A state's size is said once to the library.
PetscErrorCode Sweep::require_same_size() const {
  PetscInt local = 0;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ts_->vec_sol, &local));
  int other = static_cast<std::size_t>(local) * sizeof(PetscScalar) != state_shape_.solution;
  if (resizes(ts_)) {  // or else all ranks are the same
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MAX, comm_));
  }
  PetscCheck(other == 0, comm_, PETSC_ERR_SUP,
             "the solution has another size than at the first step (TSSetResize): a trajectory of "
             "this type keeps states of one size");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::note(PetscInt step) {
  PetscFunctionBegin;
  PetscCall(require_same_size());
  PetscCall(fingerprint(ts_->vec_sol, notes_.fields(), &print_));
  StepCalls calls = watch_->take();
  const PetscReal size =
      calls.calls.empty() ? ts_->ptime - ts_->ptime_prev : calls.calls.back().size;
  const StepNote made{ts_->ptime, size, ts_->time_step, ts_->ptime_prev};
  if (resumption_.on()) resumption_.add_step(ts_, made, calls, print_, events_seen_);
  notes_.add(made, std::move(calls), print_);
  last_ = step;
  live_ = {step, 1};
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same of what a method and, for a process that goes on, events and a controller add to it.
PetscErrorCode Sweep::require_same_form() const {
  RecordForm form = {};
  std::int64_t rest = 0;
  PetscFunctionBegin;
  PetscCall(record_form(ts_, &form));
  if (rest_bytes_ > 0) PetscCall(going_on_columns(ts_, &rest));
  PetscCheck(fits(form, form_) && rest == rest_columns_, comm_, PETSC_ERR_SUP,
             "the TS has another method than at the first step%s (%s): records are of one size, "
             "unless memory has room for all of them",
             rest_bytes_ > 0 ? ", other events or another controller" : "", kMethodSetters);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::begin(TSTrajectory tj, TS ts, PetscInt step, KeptRecords& kept) {
  RecordShape state, tape;
  PetscFunctionBegin;
  if (ts != this->ts()) leave_ts();
  ts_ = ts;
  PetscCall(StepWatch::attach(ts, this, &watch_));
  (void)watch_->take();
  comm_ = comm_of(tj);
  PetscCall(record_shape(ts, ts->vec_sol, RecordParts::kState, &state));
  PetscCall(record_shape(ts, ts->vec_sol, RecordParts::kWhole, &tape));
  Settings& settings = settings_of(tj);
  const std::int64_t environment = hash_of_environment(), said = hash_of_settings(settings);
  std::int64_t alike[] = {environment, ~environment, said, ~said};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, alike, 4, MPI_INT64_T, MPI_MAX, comm_));
  PetscCheck(alike[0] == ~alike[1], comm_, PETSC_ERR_ARG_INCOMP,
             "ANADROME_OPTIONS differs between ranks: export it to all of them (mpiexec -x), or "
             "set -ts_trajectory_anadrome_... instead");
  PetscCheck(alike[2] == ~alike[3], comm_, PETSC_ERR_ARG_INCOMP,
             "the options -ts_trajectory_... differ between ranks: give all of them the same");
  const bool resumes = settings.resumes();
  std::size_t rest = 0;
  if (resumes) {
    const std::string why = cannot_go_on(ts);
    PetscCheck(why.empty(), comm_, PETSC_ERR_SUP, "-ts_trajectory_anadrome_resume on: %s",
               why.c_str());
    PetscCall(going_on_bytes(ts, &rest));
  }
  const bool taped = tj->solution_only == PETSC_FALSE;
  PetscCall(finish_reverse());
  const bool other = run_ == nullptr || settings.changed || tj->keepfiles != files_stay_ ||
                     taped != taped_ || !(state == state_shape_) || !(tape == tape_shape_) ||
                     rest != rest_bytes_;
  int opens = other ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &opens, 1, MPI_INT, MPI_MAX, comm_));
  if (opens != 0) {
    state_shape_ = state;
    tape_shape_ = tape;
    rest_bytes_ = rest;
    taped_ = taped;
    files_stay_ = tj->keepfiles;
    PetscCall(open(tj));
    settings.changed = false;
    were_too_many_ = false;
    resumption_.set(settings.commit_interval());
  }
  PetscCall(record_form(ts, &form_));
  rest_columns_ = 0;
  if (rest > 0) PetscCall(going_on_columns(ts, &rest_columns_));
  steps_said_ = settings.steps;
  first_ = base_ = step;
  steps_run_again_ = preflight_steps_ = 0;
  lost_ = begun_ = false;
  forward_ = true;
  began_ = now_seconds();
  std::size_t fields = 1;
  PetscCall(fields_of(ts->vec_sol, &fields));
  notes_.begin(step, fields);
  events_seen_ = ts->event != nullptr ? ts->event->recorder.ctr : 0;
  keeps_all_ = shares_.most_kept > 0 && !were_too_many_;
  kept.set_limit(keeps_all_ ? shares_.memory : shares_.aside);
  watch_->before = nullptr;
  resumption_.leave();
  came_back_ = asked_ = false;
  if (!keeps_all_) PetscCall(begin_library(tj, resumes, kept));
  if (keeps_all_ ? shares_.follower > 0 : shares_.files_stay) {
    Follower::Solution solution;
    if (shares_.files_stay) solution = {state_shape_.bytes(), pack_state, this};
    PetscCall(follower_.begin(comm_, settings, directory_, shares_, solution));
  }
  if (!returning()) PetscCall(note(step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::begin_library(TSTrajectory tj, bool resumes, KeptRecords& kept) {
  PetscFunctionBegin;
  action_ = {};
  const std::int64_t memory = shares_.for_library(base_ - first_);
  if (memory != given_) {
    if (given_ != 0) PetscCall(open(tj));  // no option can be set while a sweep is under way
    PetscCall(set("memory", std::to_string(memory) + "B"));
    given_ = memory;
  }
  PetscCall(fingerprint(ts_->vec_sol, notes_.fields(), &print_));
  const Fingerprint first = print_;
  arriving_ = resumes;
  const anadrome_status status =
      anadrome_begin(run_, steps_said_ < 0 ? ANADROME_STEPS_UNKNOWN : steps_said_ - base_ + first_);
  arriving_ = false;
  PetscCall(check(status, words_on(status, settings_of(tj)).c_str()));
  begun_ = true;
  if (!resumes) PetscFunctionReturn(PETSC_SUCCESS);
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  std::int64_t done = 0;
  PetscCall(check(anadrome_resumed(run_, &phase, &done)));
  watch_->before = [this](TS stepping, bool* taken) {
    return resumption_.before_step(stepping, notes_, taken);
  };
  if (phase != ANADROME_PHASE_IDLE) {
    PetscCall(resume(done, first, kept));
  } else {
    PetscCall(resumption_.begin(ts_, directory_.beside()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::step_done(PetscInt step, bool* jumped) {
  PetscFunctionBegin;
  PetscCheck(steps_said_ < 0 || step - first_ <= steps_said_, comm_, PETSC_ERR_ARG_WRONG,
             "-ts_trajectory_anadrome_steps is %" PetscInt_FMT ", and the solver takes more",
             steps_said_);
  PetscCall(note(step));
  const PetscInt events = ts_->event != nullptr ? ts_->event->recorder.ctr : 0;
  *jumped = std::exchange(events_seen_, events) != events;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The watch sees nothing of it.
PetscErrorCode Sweep::replay(PetscInt from, PetscInt to) {
  PetscFunctionBegin;
  watch_->pause(true);
  const PetscErrorCode outcome = replay_.run(ts_, from, to, notes_);
  watch_->pause(false);
  PetscCall(outcome);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The first steps, run a second time from the first record: what would be found in the reverse
// sweep is found at once. Not where no step is run again, nor where a step takes a minute.
PetscErrorCode Sweep::preflight(TSTrajectory tj, PetscInt step, const KeptRecords& kept) {
  constexpr PetscInt kSteps = 2;
  PetscFunctionBegin;
  if (preflighted_ || returning() || keeps_all_ || step - first_ != kSteps)
    PetscFunctionReturn(PETSC_SUCCESS);
  const Settings& settings = settings_of(tj);
  if (settings.audit() == "off") PetscFunctionReturn(PETSC_SUCCESS);
  preflighted_ = true;
  double took = now_seconds() - began_;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, comm_));
  const bool long_steps = took > 60.0 * kSteps;
  const bool stored = settings.value_or_environment("schedule") == "store_all";
  const KeptRecord* const first = kept.find(first_);
  const PetscInt start = kept.start_between(first_, step);
  if (long_steps || stored || first == nullptr || start != first_) {
    PetscFunctionReturn(PETSC_SUCCESS);  // or an event is on the way
  }
  KeptRecord now;
  PetscCall(make_record(ts_, ts_->vec_sol, RecordParts::kWhole, &now));
  const PetscBool restarts = ts_->steprestart;
  PetscCall(record_from_bytes(ts_, first->shape, first->bytes.data()));
  live_ = {first_, 0};
  PetscCall(replay(first_, step));
  PetscCall(replay_.judge(ts_, notes_, settings.tolerance, settings.audit()));
  preflight_steps_ = kSteps;
  PetscCall(record_from_bytes(ts_, now.shape, now.bytes.data()));
  ts_->steprestart = restarts;
  live_ = {step, 1};
  PetscFunctionReturn(PETSC_SUCCESS);
}

// When records take all of the memory, the library gets what is not for their states: it begins at
// this step.
PetscErrorCode Sweep::hand_on(TSTrajectory tj, KeptRecords& kept) {
  PetscFunctionBegin;
  PetscCall(preflight(tj, last_, kept));
  if (keeps_all_ && static_cast<std::int64_t>(kept.count()) >= shares_.most_kept) {
    if (!shares_.files_stay) PetscCall(follower_.close());  // the library itself from now on
    keeps_all_ = false;
    were_too_many_ = true;
    base_ = last_;
    PetscCall(kept.thin(comm_, shares_.aside));
    PetscCall(begin_library(tj, false, kept));
  }
  if (!keeps_all_ || shares_.files_stay) PetscCall(require_same_form());
  PetscCall(follower_.step_done(steps()));
  if (keeps_all_ || action_.last != last_ - base_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(resumption_.flush());
  PetscCall(next());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- after a kill ----

// The library is at step `done` of its own; the TS is at its first record still.
PetscErrorCode Sweep::resume(std::int64_t done, const Fingerprint& first, KeptRecords& kept) {
  PetscFunctionBegin;
  last_ = base_ + static_cast<PetscInt>(done);
  PetscCall(resumption_.load(comm_, directory_.beside(), last_, &notes_, &kept));
  int other = !notes_.are_of(base_, first) || notes_.at(base_).next_size != ts_->time_step;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MAX, comm_));
  PetscCheck(
      other == 0, comm_, PETSC_ERR_ARG_WRONG,
      "the first solution or time step is another one than in the run that was killed; without "
      "-ts_trajectory_anadrome_resume it begins anew");
  bool same = false;
  PetscCall(resumption_.compare_limits(ts_, &same));
  other = same ? 0 : 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MAX, comm_));
  PetscCheck(other == 0, comm_, PETSC_ERR_ARG_WRONG,
             "the number of steps, the end of the time, a tolerance or the step controller is "
             "another one than in the run that was killed; without "
             "-ts_trajectory_anadrome_resume it begins anew");
  other = live_.step != last_;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MAX, comm_));
  PetscCheck(other == 0, comm_, PETSC_ERR_FILE_UNEXPECTED,
             "the state of step %" PetscInt_FMT
             " cannot be read back; without -ts_trajectory_anadrome_resume the run begins anew",
             last_);
  live_ = {last_, 0};
  PetscCall(next());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::leap(const KeptRecords& kept) {
  PetscFunctionBegin;
  PetscCall(resumption_.leap(ts_, state_shape_, notes_, kept));
  events_seen_ = ts_->event != nullptr ? ts_->event->recorder.ctr : 0;
  pass_over();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- reverse ----

PetscErrorCode Sweep::asked_for(PetscInt step, bool* ended) {
  PetscFunctionBegin;
  *ended = false;
  if (step >= last_) PetscFunctionReturn(PETSC_SUCCESS);
  asked_ = true;
  PetscCall(follower_.back_to(steps(), step - first_));
  if (!keeps_all_) PetscFunctionReturn(PETSC_SUCCESS);
  if (forward_) PetscCall(require_steps_said());
  forward_ = false;
  if (step == first_) *ended = !std::exchange(came_back_, true);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::require_steps_said() const {
  PetscFunctionBegin;
  PetscCheck(steps_said_ < 0 || steps() == steps_said_, comm_, PETSC_ERR_ARG_WRONG,
             "-ts_trajectory_anadrome_steps is %" PetscInt_FMT
             ", and the solver took %" PetscInt_FMT,
             steps_said_, steps());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::finish_forward() {
  PetscFunctionBegin;
  if (steps_said_ < 0) PetscCall(check(anadrome_finish_forward(run_, last_ - base_)));
  PetscCall(require_steps_said());
  forward_ = false;
  // The program may have used the vectors since the last record was made.
  PetscCall(fingerprint(ts_->vec_sol, notes_.fields(), &print_));
  int changed = !notes_.are_of(last_, print_);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, comm_));
  if (changed != 0) live_.step = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// To DONE, which has the report and the trace, if that is all that is left. The TS may have gone,
// or begun anew: what the library restores on the way is not put into its vectors.
PetscErrorCode Sweep::finish_reverse() {
  PetscFunctionBegin;
  const bool adjoined = begun_ && !lost_ && action_.kind == ANADROME_ADJOINT && action_.first == 0;
  if (!adjoined) PetscFunctionReturn(PETSC_SUCCESS);
  over_ = true;
  const anadrome_status status = anadrome_next(run_, &action_);
  over_ = false;
  PetscCall(check(status));
  PetscCall(report_shares());
  resumption_.remove();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// To DONE and back to the end, running nothing: states are handed on as they are.
PetscErrorCode Sweep::turn_back() {
  PetscFunctionBegin;
  while (action_.kind != ANADROME_DONE) PetscCall(next());
  PetscCall(check(anadrome_rewind(run_)));
  PetscCall(next());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::run_again(TSTrajectory tj, std::int64_t to) {
  LogEvents events;
  PetscFunctionBegin;
  const std::int64_t steps = to - live_.step;
  PetscCall(log_events(&events));
  PetscCall(PetscLogEventBegin(events.recompute, tj, ts_, 0, 0));
  PetscCall(replay(static_cast<PetscInt>(live_.step), static_cast<PetscInt>(to)));
  PetscCall(PetscLogEventEnd(events.recompute, tj, ts_, 0, 0));
  if (tj->monitor != nullptr) {
    PetscCall(PetscViewerASCIIPrintf(tj->monitor, "anadrome: steps %lld to %lld run again\n",
                                     static_cast<long long>(live_.step),
                                     static_cast<long long>(to)));
  }
  steps_run_again_ += steps;
  tj->recomps += static_cast<PetscInt>(steps);
  live_ = {to, 1};
  PetscFunctionReturn(PETSC_SUCCESS);
}

// As far towards record `to` as may be now, from a full record if that is on the way.
PetscErrorCode Sweep::advance(TSTrajectory tj, std::int64_t to, const KeptRecords& kept) {
  PetscFunctionBegin;
  to = std::min<std::int64_t>(to, wanted_);
  if (to < floor_) PetscFunctionReturn(PETSC_SUCCESS);
  if (live_.step < floor_) {
    const KeptRecord* record = kept.find(floor_);
    PetscCall(record_from_bytes(ts_, record->shape, record->bytes.data()));
    live_ = {floor_, 0};
  }
  if (live_.step < to) PetscCall(run_again(tj, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::bring_from(TSTrajectory tj, PetscInt step, const KeptRecord& before) {
  PetscFunctionBegin;
  PetscCall(record_from_bytes(ts_, before.shape, before.bytes.data()));
  live_ = {step - 1, 0};
  PetscCall(run_again(tj, step));
  PetscCall(replay_.judge(ts_, notes_, settings_of(tj).tolerance, settings_of(tj).audit()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::bring(TSTrajectory tj, PetscInt step, const KeptRecords& kept) {
  const std::int64_t target = step - base_ - 1;  // the library's number of the step to be adjoined
  PetscFunctionBegin;
  PetscCheck(
      !lost_, comm_, PETSC_ERR_ORDER,
      "no record can be had any more: an earlier one could not be brought back. Solve forward "
      "again");
  PetscCall(require_place(ts_, step, form_));
  lost_ = true;  // kept states may come from a step that was refused
  if (forward_) PetscCall(finish_forward());
  wanted_ = -1;  // nothing is run on the way back to the end
  const bool adjoining = action_.kind == ANADROME_ADJOINT;
  if (action_.kind == ANADROME_DONE || (adjoining && action_.first <= target)) {
    PetscCall(turn_back());
  }
  wanted_ = step;
  floor_ = std::max(base_, kept.start_between(base_, step - 1));
  while (action_.kind != ANADROME_ADJOINT || action_.first != target) {
    PetscCall(next());
    PetscCheck(action_.kind != ANADROME_DONE, comm_, PETSC_ERR_PLIB,
               "the sweep ended before record %" PetscInt_FMT, step);
    if (action_.kind == ANADROME_ADVANCE) PetscCall(advance(tj, base_ + action_.last, kept));
  }
  const bool there = live_.step == step && live_.complete != 0;
  if (!there) {
    PetscCheck(live_.step >= base_ && live_.step < step, comm_, PETSC_ERR_PLIB,
               "no state before record %" PetscInt_FMT " is left", step);
    PetscCall(advance(tj, step, kept));
  }
  PetscCall(replay_.judge(ts_, notes_, settings_of(tj).tolerance, settings_of(tj).audit()));
  lost_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

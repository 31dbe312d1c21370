// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/resume/resumption.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/error.h"

namespace anadrome::petsc {
namespace {

enum EntryKind : std::int64_t { kBegin = 1, kRecord = 3, kStep = 4 };  // 2: steps of old notes

void put_vector(Bytes& bytes, const auto& values) {
  put(bytes, static_cast<std::int64_t>(values.size()));
  for (const auto& value : values) put(bytes, value);
}

void put_bytes(Bytes& bytes, const Bytes& values) {
  bytes.reserve(bytes.size() + values.size() + 2 * sizeof(std::int64_t));
  put(bytes, static_cast<std::int64_t>(values.size()));
  put(bytes, std::span<const std::byte>(values));
}

Bytes get_bytes(Reading& reading) {
  const auto count = static_cast<std::size_t>(reading.get<std::int64_t>());
  const std::span<const std::byte> taken = reading.take(count);
  return {taken.begin(), taken.end()};
}

template <class Vector>
Vector get_vector(Reading& reading) {
  Vector values;
  const auto count = reading.get<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(reading.get<typename Vector::value_type>());
  }
  return values;
}

}  // namespace

// ---- what a later process needs ----

PetscErrorCode Resumption::start(MPI_Comm comm, const std::string& prefix) {
  PetscMPIInt rank = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  on_ = true;
  comm_ = comm;
  prefix_ = prefix + "." + std::to_string(rank);
  failure_ = {};
  leaps_.clear();
  ends_.clear();
  events_.clear();
  rest_.clear();
  at_ = solve_began_ = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Resumption::begin(TS ts, const std::string& prefix) {
  const MPI_Comm comm = comm_of(ts);
  PetscFunctionBegin;
  PetscCall(start(comm, prefix));
  PetscCall(sum_of_limits(ts, &limits_));
  id_ = static_cast<std::int64_t>(now_seconds() * 1e9) ^
        (static_cast<std::int64_t>(::getpid()) << 40);
  PetscCallMPI(MPI_Bcast(&id_, 1, MPI_INT64_T, 0, comm));
  failure_ = failure_from([&] { file_.create(prefix_ + ".notes"); });
  Bytes bytes;
  put(bytes, id_);
  put(bytes, limits_);
  add(kBegin, bytes);
  PetscCall(flush());
  PetscCall(adjoint_.start(comm, prefix_, id_, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Resumption::add(std::int64_t kind, const Bytes& bytes) {
  if (!failure_) failure_ = failure_from([&] { file_.add(kind, bytes); });
}

PetscErrorCode Resumption::flush() {
  PetscFunctionBegin;
  if (!on_) PetscFunctionReturn(PETSC_SUCCESS);
  if (!failure_) failure_ = failure_from([&] { file_.flush(); });
  int failed = failure_ ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm_));
  PetscCheck(failed == 0, comm_, PETSC_ERR_FILE_WRITE,
             "the notes for resume=on cannot be written on every rank: %s",
             failure_ ? failure_.message.c_str() : "another rank says why");
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Resumption::add_step(TS ts, const StepNote& note, const StepCalls& calls,
                          const Fingerprint& print, PetscInt first_event) {
  Bytes bytes;
  put(bytes, ts->steps);
  put(bytes, note);
  put(bytes, calls.restarted);
  put(bytes, static_cast<std::int64_t>(calls.calls.size()));
  for (const StepCall& call : calls.calls) {
    put(bytes, call.size);
    put_vector(bytes, call.refused);
  }
  put_vector(bytes, print.products);
  put(bytes, ts->reason);
  const std::vector<EventNote> events = events_from(ts, first_event);
  put(bytes, static_cast<std::int64_t>(events.size()));
  for (const EventNote& event : events) {
    put(bytes, event.step);
    put(bytes, event.time);
    put_vector(bytes, event.which);
    events_.push_back(event);
  }
  add(kStep, bytes);
}

PetscErrorCode Resumption::add_record(TS ts, PetscInt step, const KeptRecord& record) {
  std::size_t count = 0;
  PetscFunctionBegin;
  PetscCall(going_on_bytes(ts, &count));
  Bytes rest(count), bytes;
  PetscCall(going_on_to_bytes(ts, rest.data()));
  put(bytes, step);
  put(bytes, record.shape);
  put(bytes, record.time);
  put(bytes, record.previous_time);
  put(bytes, record.starts_anew);
  put_bytes(bytes, record.bytes);
  put_bytes(bytes, rest);
  put(bytes, record.form);
  add(kRecord, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Resumption::remove() {
  if (!on_) return;
  file_.remove();
  adjoint_.remove();
  on_ = false;
}

// ---- what an earlier one left ----

PetscErrorCode Resumption::load(MPI_Comm comm, const std::string& prefix, PetscInt last,
                                StepNotes* notes, KeptRecords* kept) {
  PetscInt reached = -1;
  PetscFunctionBegin;
  PetscCall(start(comm, prefix));
  const Failure failure = failure_from([&] {
    const std::vector<Entry> entries = file_.open(prefix_ + ".notes");
    file_.keep_first(parse(entries, last, notes, kept, &reached));
  });
  std::int64_t id = id_;
  PetscCallMPI(MPI_Bcast(&id, 1, MPI_INT64_T, 0, comm));
  int other = failure || reached != last || id != id_;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(
      other == 0, comm, PETSC_ERR_FILE_UNEXPECTED,
      "the notes on the steps (%s.notes and those of the other ranks) do not reach step "
      "%" PetscInt_FMT
      ", from which the run would go on%s%s; without -ts_trajectory_anadrome_resume it begins "
      "anew",
      prefix_.c_str(), last, failure ? ": " : "", failure ? failure.message.c_str() : "");
  PetscCall(adjoint_.start(comm, prefix_, id_, true));
  for (const auto& [step, end] : ends_) leaps_.push_back(step);
  if (leaps_.empty() || leaps_.back() != last) leaps_.push_back(last);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Resumption::compare_limits(TS ts, bool* same) const {
  std::uint64_t now = 0;
  PetscFunctionBegin;
  PetscCall(sum_of_limits(ts, &now));
  *same = limits_ == 0 || limits_ == now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// How many of the entries belong to steps up to `last`.
std::size_t Resumption::parse(const std::vector<Entry>& entries, PetscInt last, StepNotes* notes,
                              KeptRecords* kept, PetscInt* reached) {
  std::size_t used = 0;
  for (const Entry& entry : entries) {
    Reading reading(entry.bytes);
    if (entry.kind == kBegin) {
      id_ = reading.get<std::int64_t>();
      limits_ = reading.get<std::uint64_t>();
    }
    if (entry.kind == kStep) {
      const auto step = reading.get<PetscInt>();
      if (step > last) break;
      if (*reached < 0 && step != notes->first()) {
        throw Error(ANADROME_ERR_ARGUMENT, "they begin at another step than this run");
      }
      parse_step(reading, step, notes);
      *reached = step;
    }
    if (entry.kind == kRecord) parse_record(reading, kept);
    ++used;
  }
  return used;
}

void Resumption::parse_step(Reading& reading, PetscInt step, StepNotes* notes) {
  const auto note = reading.get<StepNote>();
  StepCalls calls{reading.get<bool>(), {}};
  for (auto left = reading.get<std::int64_t>(); left > 0; --left) {
    StepCall call;
    call.size = reading.get<PetscReal>();
    call.refused = get_vector<std::vector<PetscReal>>(reading);
    calls.calls.push_back(std::move(call));
  }
  Fingerprint print;
  print.products = get_vector<std::vector<double>>(reading);
  if (step == notes->first()) notes->begin(step, print.products.size());
  notes->add(note, std::move(calls), print);
  const auto reason = reading.get<TSConvergedReason>();
  if (reason != TS_CONVERGED_ITERATING) ends_[step].reason = reason;
  for (auto left = reading.get<std::int64_t>(); left > 0; --left) {
    EventNote event;
    event.step = reading.get<PetscInt>();
    event.time = reading.get<PetscReal>();
    event.which = get_vector<std::vector<PetscInt>>(reading);
    events_.push_back(std::move(event));
  }
}

void Resumption::parse_record(Reading& reading, KeptRecords* kept) {
  const auto step = reading.get<PetscInt>();
  KeptRecord record;
  record.shape = reading.get<RecordShape>();
  record.time = reading.get<PetscReal>();
  record.previous_time = reading.get<PetscReal>();
  record.starts_anew = reading.get<bool>();
  record.bytes = get_bytes(reading);
  Bytes rest = get_bytes(reading);
  if (const auto end = ends_.find(step); end != ends_.end()) end->second.going_on = std::move(rest);
  record.form = reading.get<RecordForm>();
  kept->put_back(step, std::move(record));
}

bool Resumption::event_or_end(PetscInt step) const {
  return ends_.count(step) > 0 ||
         std::any_of(events_.begin(), events_.end(),
                     [step](const EventNote& event) { return event.step == step; });
}

// A vector with the solution of a record that was kept, or of the TS.
PetscErrorCode Resumption::scratch(TS ts, const KeptRecords& kept, PetscInt step, Vec* solution) {
  const KeptRecord* record = kept.find(step);
  PetscFunctionBegin;
  PetscCall(VecDuplicate(ts->vec_sol, solution));
  if (record == nullptr) {
    PetscCall(VecCopy(ts->vec_sol, *solution));
  } else {
    PetscCall(parts_from_bytes({.more = {solution, 1}}, record->bytes.data()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Resumption::leap(TS ts, const RecordShape& state_shape, const StepNotes& notes,
                                const KeptRecords& kept) {
  const PetscInt step = leaps_.front();
  PetscFunctionBegin;
  leaps_.pop_front();
  if (hidden_event_ != nullptr) ts->event = std::exchange(hidden_event_, nullptr);
  if (leaps_.empty()) {
    PetscCall(record_from_bytes(ts, state_shape, state_.data()));
    state_ = {};
  } else {
    const KeptRecord* record = kept.find(step);
    PetscCall(record_from_bytes(ts, record->shape, record->bytes.data()));
  }
  PetscCall(arrive(ts, step, notes, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A further TSSolve of the program begins a way that an earlier process went: one step of it is all
// that PETSc sees. Events are found on the way, not at its end.
PetscErrorCode Resumption::before_step(TS ts, const StepNotes& notes, bool* taken) {
  PetscFunctionBegin;
  if (leaps_.empty()) {
    PetscCall(put_rest(ts));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ts->steps = leaps_.front() - 1;
  ts->ptime = notes.at(leaps_.front()).time;
  ts->time_step = notes.at(leaps_.front()).next_size;
  hidden_event_ = std::exchange(ts->event, nullptr);
  *taken = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// All but the record.
PetscErrorCode Resumption::arrive(TS ts, PetscInt step, const StepNotes& notes,
                                  const KeptRecords& kept) {
  PetscFunctionBegin;
  ts->steps = step;
  ts->ptime = notes.at(step).time;
  ts->ptime_prev = ts->ptime_prev_rollback = notes.at(step).previous_time;
  ts->time_step = notes.at(step).next_size;
  for (const EventNote& event : events_) {
    if (event.step <= at_ || event.step > step) continue;
    Vec solution = nullptr;
    PetscCall(scratch(ts, kept, event.step, &solution));
    PetscCall(repeat_event(ts, event, solution));
    PetscCall(VecDestroy(&solution));
  }
  rest_began_ = solve_began_;
  at_ = step;
  const auto end = ends_.find(step);
  if (end != ends_.end()) {
    ts->reason = end->second.reason;
    solve_began_ = step;
  }
  rest_ = leaps_.empty() ? state_rest_ : end->second.going_on;
  PetscCall(going_on_from_bytes(ts, rest_));  // again in put_rest: TSSolve begins events anew
  bool same = false;
  PetscCall(equations_are_those_of(ts, rest_, &same));
  PetscCheck(
      same, comm_of(ts), PETSC_ERR_ARG_WRONGSTATE,
      "at step %" PetscInt_FMT
      ", where the run would go on, the program's equations are others than they were before "
      "it was killed: it has another parameter, or something of its own (changed in PostStep, "
      "say) that a new process does not have. Without -ts_trajectory_anadrome_resume it "
      "begins anew",
      step);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Resumption::put_rest(TS ts) {
  PetscFunctionBegin;
  if (rest_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(going_on_from_bytes(ts, rest_));
  if (ts->reason == TS_CONVERGED_ITERATING) set_start_step(ts, rest_began_);
  rest_.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- TSAdjointSolve ----

PetscErrorCode Resumption::begin_adjoint(TS ts, PetscInt first, const KeptRecords& kept,
                                         PetscInt* from) {
  PetscFunctionBegin;
  PetscCall(adjoint_.begin(ts, first, from));
  if (*from == first) PetscFunctionReturn(PETSC_SUCCESS);
  for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
    if (event->step > first || event->step <= *from) continue;
    Vec solution = nullptr;
    PetscCall(scratch(ts, kept, event->step, &solution));
    PetscCall(take_event_back(ts, solution));
    PetscCall(VecDestroy(&solution));
  }
  PetscCall(adjoint_.restore(ts));
  PetscCall(PetscFPrintf(comm_, PETSC_STDERR,
                         "anadrome: TSAdjointSolve goes on at step %" PetscInt_FMT
                         " of %" PetscInt_FMT "\n",
                         *from, first));
  ts->adjoint_steps = first - *from;
  ts->steps = *from;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

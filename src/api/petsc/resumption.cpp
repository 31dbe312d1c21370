// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/resumption.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/error.h"

namespace anadrome::petsc {
namespace {

enum EntryKind : std::int64_t { kBegin = 1, kStep, kRecord, kAdjoint };

MPI_Comm comm_of(TS ts) { return PetscObjectComm(reinterpret_cast<PetscObject>(ts)); }

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

// Of all vectors, one after the other.
PetscErrorCode sum_of(const TsParts& parts, std::uint64_t* sum) {
  std::size_t bytes = 0;
  PetscFunctionBegin;
  PetscCall(parts_bytes(parts, &bytes));
  Bytes all(bytes);
  PetscCall(parts_to_bytes(parts, all.data()));
  ChecksumStream stream;
  stream.add(all.data(), all.size());
  *sum = stream.finish().low;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

// ---- what a later process needs ----

PetscErrorCode Resumption::begin(MPI_Comm comm, const std::string& prefix, double interval) {
  PetscMPIInt rank = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  on_ = true;
  comm_ = comm;
  prefix_ = prefix + "." + std::to_string(rank);
  interval_ = interval;
  leaps_.clear();
  ends_.clear();
  events_.clear();
  rest_.clear();
  state.clear();
  going_on.clear();
  at_ = solve_began_ = 0;
  adjoint_first_ = -1;
  id_ = static_cast<std::int64_t>(now_seconds() * 1e9) ^
        (static_cast<std::int64_t>(::getpid()) << 40);
  PetscCallMPI(MPI_Bcast(&id_, 1, MPI_INT64_T, 0, comm));
  came_ = false;
  adjoints_ = adjoints_before_ = 0;
  failure_ = failure_from([&] { file_.create(prefix_ + ".notes"); });
  Bytes bytes;
  put(bytes, id_);
  add(kBegin, bytes);
  PetscCall(flush());
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
  add(kRecord, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Resumption::remove() {
  if (!on_) return;
  file_.remove();
  for (const int which : {0, 1}) ::unlink(adjoint_path(which).c_str());
  on_ = false;
}

// ---- what an earlier one left ----

PetscErrorCode Resumption::load(MPI_Comm comm, const std::string& prefix, double interval,
                                PetscInt last, StepNotes* notes, KeptRecords* kept) {
  PetscMPIInt rank = 0;
  PetscInt reached = -1;
  std::size_t used = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  on_ = true;
  comm_ = comm;
  prefix_ = prefix + "." + std::to_string(rank);
  interval_ = interval;
  leaps_.clear();
  ends_.clear();
  events_.clear();
  rest_.clear();
  at_ = solve_began_ = 0;
  adjoint_first_ = -1;
  const Failure failure = failure_from([&] {
    const std::vector<Entry> entries = file_.open(prefix_ + ".notes");
    PetscCallVoid(parse(entries, last, notes, kept, &used, &reached));
    file_.keep_first(used);
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
  came_ = true;
  adjoints_ = 0;
  failure_ = {};
  PetscCall(find_adjoints());
  for (const auto& [step, end] : ends_) leaps_.push_back(step);
  if (leaps_.empty() || leaps_.back() != last) leaps_.push_back(last);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Resumption::parse(const std::vector<Entry>& entries, PetscInt last, StepNotes* notes,
                                 KeptRecords* kept, std::size_t* used, PetscInt* reached) {
  PetscFunctionBegin;
  for (const Entry& entry : entries) {
    Reading reading(entry.bytes);
    if (entry.kind == kBegin) {
      id_ = reading.get<std::int64_t>();
    } else if (entry.kind == kStep) {
      const auto step = reading.get<PetscInt>();
      if (step > last) break;
      const auto note = reading.get<StepNote>();
      StepCalls calls{reading.get<bool>(), {}};
      const auto count = reading.get<std::int64_t>();
      for (std::int64_t i = 0; i < count; ++i) {
        StepCall call;
        call.size = reading.get<PetscReal>();
        call.refused = get_vector<std::vector<PetscReal>>(reading);
        calls.calls.push_back(std::move(call));
      }
      Fingerprint print;
      print.products = get_vector<std::vector<double>>(reading);
      if (*reached < 0) notes->begin(step, print.products.size());
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
      *reached = step;
    } else if (entry.kind == kRecord) {
      const auto step = reading.get<PetscInt>();
      KeptRecord record;
      record.shape = reading.get<RecordShape>();
      record.time = reading.get<PetscReal>();
      record.previous_time = reading.get<PetscReal>();
      record.starts_anew = reading.get<bool>();
      record.bytes = get_bytes(reading);
      if (const auto end = ends_.find(step); end != ends_.end()) {
        end->second.going_on = get_bytes(reading);
      }
      kept->put_back(step, std::move(record));
    }
    ++*used;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
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
    const std::byte* from = record->bytes.data();
    PetscCall(move_vec<Way::kIn>(*solution, from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Resumption::arrive(TS ts, PetscInt step, const StepNotes& notes,
                                  const KeptRecords& kept) {
  PetscFunctionBegin;
  leaps_.pop_front();
  ts->steps = step;
  ts->ptime = notes.at(step).time;
  ts->ptime_prev = ts->ptime_prev_rollback = notes.at(std::max(step - 1, notes.first())).time;
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
  rest_ = leaps_.empty() ? going_on : end->second.going_on;
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

// How many adjoint solves of the sweep an earlier process had begun.
PetscErrorCode Resumption::find_adjoints() {
  PetscFunctionBegin;
  adjoints_before_ = 0;
  (void)failure_from([&] {  // what cannot be read is not there
    for (const int which : {0, 1}) {
      if (::access(adjoint_path(which).c_str(), R_OK) != 0) continue;
      NotesFile file;
      for (const Entry& entry : file.open(adjoint_path(which))) {
        Reading reading(entry.bytes);
        if (reading.get<std::int64_t>() != id_) continue;
        adjoints_before_ = std::max(adjoints_before_, reading.get<std::int64_t>());
      }
    }
  });
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &adjoints_before_, 1, MPI_INT64_T, MPI_MAX, comm_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<Resumption::Commit> Resumption::committed(PetscInt first, std::uint64_t seed) {
  std::vector<Commit> found;
  if (!came_) return found;
  for (const int which : {0, 1}) {
    if (::access(adjoint_path(which).c_str(), R_OK) != 0) continue;
    NotesFile file;
    for (const Entry& entry : file.open(adjoint_path(which))) {
      Reading reading(entry.bytes);
      const bool of_this = reading.get<std::int64_t>() == id_ &&
                           reading.get<std::int64_t>() == adjoints_ &&
                           reading.get<PetscInt>() == first && reading.get<std::uint64_t>() == seed;
      if (!of_this) continue;
      Commit commit;
      commit.step = reading.get<PetscInt>();
      commit.number = reading.get<std::int64_t>();
      const std::span<const std::byte> rest = reading.take(reading.left());
      commit.bytes.assign(rest.begin(), rest.end());
      found.push_back(std::move(commit));
    }
  }
  return found;
}

PetscErrorCode Resumption::begin_adjoint(TS ts, PetscInt first, const KeptRecords& kept,
                                         PetscInt* from) {
  PetscFunctionBegin;
  *from = first;
  ++adjoints_;
  adjoint_first_ = first;
  commit_at_ = now_seconds();
  committed_step_ = first;
  next_commit_ = first - 1;
  PetscCall(sum_of(adjoint_parts(ts), &adjoint_seed_));
  std::vector<Commit> found;
  const Failure failure = failure_from([&] { found = committed(first, adjoint_seed_); });
  if (failure) found.clear();
  // The newest that every rank has: of its two, a rank may have one that another has not.
  std::int64_t newest = first;
  for (const Commit& commit : found) newest = std::min<std::int64_t>(newest, commit.step);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &newest, 1, MPI_INT64_T, MPI_MAX, comm_));
  const auto chosen = std::find_if(
      found.begin(), found.end(), [newest](const Commit& commit) { return commit.step == newest; });
  std::size_t bytes = 0;
  PetscCall(parts_bytes(adjoint_parts(ts), &bytes));
  int missing = chosen == found.end() || chosen->bytes.size() != bytes;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &missing, 1, MPI_INT, MPI_MAX, comm_));
  if (missing != 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
    if (event->step > first || event->step <= newest) continue;
    Vec solution = nullptr;
    PetscCall(scratch(ts, kept, event->step, &solution));
    PetscCall(take_event_back(ts, solution));
    PetscCall(VecDestroy(&solution));
  }
  PetscCall(parts_from_bytes(adjoint_parts(ts), chosen->bytes.data()));
  *from = static_cast<PetscInt>(newest);
  commits_ = chosen->number;
  committed_step_ = *from;
  next_commit_ = *from - 1;
  if (speaks_) {
    PetscCall(PetscFPrintf(comm_, PETSC_STDERR,
                           "anadrome: TSAdjointSolve goes on at step %" PetscInt_FMT
                           " of %" PetscInt_FMT "\n",
                           *from, first));
  }
  ts->adjoint_steps = first - *from;
  ts->steps = *from;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The step of the next commit follows from what the steps since the last one took, on the slowest
// rank: nothing is agreed on between commits.
PetscErrorCode Resumption::at_adjoint(TS ts, PetscInt step) {
  PetscFunctionBegin;
  if (step > next_commit_ || step == 0 || adjoint_first_ < 0) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt steps = committed_step_ - step;
  double took = now_seconds() - commit_at_;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, comm_));
  PetscInt more = 2 * steps;  // until a commit is due
  if (took * 2 >= interval_ && adjoints_ >= adjoints_before_) {
    PetscCall(commit(ts, step));
    const double per_step = took / static_cast<double>(steps);
    more = static_cast<PetscInt>(
        std::clamp(interval_ / per_step, 1.0, 2.0 * static_cast<double>(steps)));
    commit_at_ = now_seconds();
    committed_step_ = step;
  }
  next_commit_ = step - std::max<PetscInt>(1, more);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A commit that cannot be written is one less to go on from.
PetscErrorCode Resumption::commit(TS ts, PetscInt step) {
  const TsParts parts = adjoint_parts(ts);
  std::size_t count = 0;
  Bytes bytes;
  PetscFunctionBegin;
  PetscCall(parts_bytes(parts, &count));
  Bytes values(count);
  PetscCall(parts_to_bytes(parts, values.data()));
  put(bytes, id_);
  put(bytes, adjoints_);
  put(bytes, adjoint_first_);
  put(bytes, adjoint_seed_);
  put(bytes, step);
  put(bytes, ++commits_);
  put(bytes, std::span<const std::byte>(values));
  (void)failure_from([&] {
    NotesFile file;
    file.create(adjoint_path(static_cast<int>(commits_ % 2)));
    file.add(kAdjoint, bytes);
    file.flush();
    file.sync();
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

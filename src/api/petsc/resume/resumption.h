// SPDX-License-Identifier: BSD-2-Clause
// resume=on under a TS: the library commits states of the forward sweep; this keeps, in files
// beside the library's, what else a new process needs: the notes on every step, the records kept in
// full and, in the reverse sweep, what the adjoint solve adds to.
//
// The new process goes the way of the old one in leaps: to the end of each TSSolve that the old one
// had behind it, then to the committed step, and in TSAdjointSolve to the step that it had reached.
// Event handlers are called at each event on the way, because they may change the program.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "api/petsc/records/kept_records.h"
#include "api/petsc/resume/adjoint_commits.h"
#include "api/petsc/resume/going_on.h"
#include "api/petsc/resume/notes_file.h"
#include "api/petsc/steps/step_notes.h"
#include "base/error.h"

namespace anadrome::petsc {

/// The end of a TSSolve.
struct SolveEnd {
  TSConvergedReason reason = TS_CONVERGED_ITERATING;
  Bytes going_on;
};

class Resumption {
 public:
  bool on() const { return on_; }
  /// Seconds between two commits of an adjoint solve.
  void set(double interval) { adjoint_.set_interval(interval); }
  /// Local: off.
  void leave() { on_ = false; }

  // ---- what a later process needs ----

  /// Collective: the notes are empty; `prefix` begins the names of the files.
  PetscErrorCode begin(TS ts, const std::string& prefix);
  void add_step(TS ts, const StepNote& note, const StepCalls& calls, const Fingerprint& print,
                PetscInt first_event);
  /// Collective.
  PetscErrorCode add_record(TS ts, PetscInt step, const KeptRecord& record);
  /// Before the library may commit. Collective; PETSC_ERR_FILE_WRITE if a rank could not write.
  PetscErrorCode flush();
  /// Collective: the sweep is over.
  void remove();

  // ---- what an earlier one left ----

  /// What the library kept of the step that it goes on with: its record and what lay beside it.
  void set_state(std::span<const std::byte> record, std::span<const std::byte> rest) {
    state_.assign(record.begin(), record.end());
    state_rest_.assign(rest.begin(), rest.end());
  }
  /// Collective: the notes up to that step, `last`; PETSC_ERR_FILE_UNEXPECTED if they do not reach
  /// it.
  PetscErrorCode load(MPI_Comm comm, const std::string& prefix, PetscInt last, StepNotes* notes,
                      KeptRecords* kept);
  /// Did the TS have the same limits and tolerances then, on this rank?
  PetscErrorCode compare_limits(TS ts, bool* same) const;
  /// The next step that the program leaps to; -1: none.
  PetscInt next() const { return leaps_.empty() ? -1 : leaps_.front(); }
  /// Put the TS there. Collective.
  PetscErrorCode leap(TS ts, const RecordShape& state_shape, const StepNotes& notes,
                      const KeptRecords& kept);
  /// Before a step is taken: is it the beginning of a leap, instead?
  PetscErrorCode before_step(TS ts, const StepNotes& notes, bool* taken);
  /// Before the next step is taken, or a record is asked for.
  PetscErrorCode put_rest(TS ts);
  bool event_or_end(PetscInt step) const;

  // ---- TSAdjointSolve ----

  /// Collective, where an adjoint solve begins at `first`: the step from which it goes on, to which
  /// the TS has been brought but for its record; `first` if none was committed.
  PetscErrorCode begin_adjoint(TS ts, PetscInt first, const KeptRecords& kept, PetscInt* from);
  /// Collective, before each of its steps.
  PetscErrorCode before_adjoint_step(TS ts, PetscInt step) {
    return adjoint_.before_step(ts, step);
  }

 private:
  PetscErrorCode start(MPI_Comm comm, const std::string& prefix);
  void add(std::int64_t kind, const Bytes& bytes);
  std::size_t parse(const std::vector<Entry>& entries, PetscInt last, StepNotes* notes,
                    KeptRecords* kept, PetscInt* reached);
  void parse_step(Reading& reading, PetscInt step, StepNotes* notes);
  void parse_record(Reading& reading, KeptRecords* kept);
  PetscErrorCode arrive(TS ts, PetscInt step, const StepNotes& notes, const KeptRecords& kept);
  PetscErrorCode scratch(TS ts, const KeptRecords& kept, PetscInt step, Vec* solution);

  bool on_ = false;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::string prefix_;  ///< of this rank's files
  NotesFile file_;
  Failure failure_;           ///< what this rank could not write
  std::int64_t id_ = 0;       ///< of the sweep
  std::uint64_t limits_ = 0;  ///< sum_of_limits when it began; 0: not noted
  std::deque<PetscInt> leaps_;
  Bytes state_, state_rest_;  ///< of the last one
  TSEvent hidden_event_ = nullptr;
  PetscInt at_ = 0, solve_began_ = 0;
  std::map<PetscInt, SolveEnd> ends_;
  std::vector<EventNote> events_;  ///< until the sweep is over
  Bytes rest_;                     ///< put_rest has to put it
  PetscInt rest_began_ = 0;
  AdjointCommits adjoint_;
};

}  // namespace anadrome::petsc

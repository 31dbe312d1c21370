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

#include "api/petsc/going_on.h"
#include "api/petsc/kept_records.h"
#include "api/petsc/notes_file.h"
#include "api/petsc/step_notes.h"
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
  /// A line on standard error where a run goes on.
  void speak(bool speaks) { speaks_ = speaks; }
  /// Local: off.
  void leave() { on_ = false; }

  // ---- what a later process needs ----

  /// Collective: the notes are empty; `prefix` begins the names of the files.
  PetscErrorCode begin(MPI_Comm comm, const std::string& prefix, double interval);
  void add_step(TS ts, const StepNote& note, const StepCalls& calls, const Fingerprint& print,
                PetscInt first_event);
  /// Collective.
  PetscErrorCode add_record(TS ts, PetscInt step, const KeptRecord& record);
  /// Before the library may commit. Collective; PETSC_ERR_FILE_WRITE if a rank could not write.
  PetscErrorCode flush();
  /// Collective: the sweep is over.
  void remove();

  // ---- what an earlier one left ----

  /// Collective: the notes up to step `last`, whose state is `state`; PETSC_ERR_FILE_UNEXPECTED if
  /// they do not reach it.
  PetscErrorCode load(MPI_Comm comm, const std::string& prefix, double interval, PetscInt last,
                      StepNotes* notes, KeptRecords* kept);
  /// The next step that the program leaps to; -1: none.
  PetscInt next() const { return leaps_.empty() ? -1 : leaps_.front(); }
  /// The last of them, and what the state of that step had beside the record.
  Bytes state, going_on;
  /// The TS is at `step`, record and all, but for what `next` had beside it. Collective.
  PetscErrorCode arrive(TS ts, PetscInt step, const StepNotes& notes, const KeptRecords& kept);
  /// Before the next step is taken, or a record is asked for.
  PetscErrorCode put_rest(TS ts);
  bool event_or_end(PetscInt step) const;

  // ---- TSAdjointSolve ----

  /// Collective, where an adjoint solve begins at `first`: the step from which it goes on, to which
  /// the TS has been brought but for its record; `first` if none was committed.
  PetscErrorCode begin_adjoint(TS ts, PetscInt first, const KeptRecords& kept, PetscInt* from);
  /// Collective, before each of its steps: commits what has been added up, if it is time.
  PetscErrorCode at_adjoint(TS ts, PetscInt step);

 private:
  void add(std::int64_t kind, const Bytes& bytes);

  struct Commit {
    PetscInt step = -1;
    std::int64_t number = 0;
    Bytes bytes;
  };

  std::string adjoint_path(int which) const {
    return prefix_ + ".adjoint." + std::to_string(which);
  }
  PetscErrorCode parse(const std::vector<Entry>& entries, PetscInt last, StepNotes* notes,
                       KeptRecords* kept, std::size_t* used, PetscInt* reached);
  PetscErrorCode scratch(TS ts, const KeptRecords& kept, PetscInt step, Vec* solution);
  PetscErrorCode find_adjoints();
  std::vector<Commit> committed(PetscInt first, std::uint64_t seed);
  PetscErrorCode commit(TS ts, PetscInt step);

  bool on_ = false, speaks_ = true;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::string prefix_;  ///< of this rank's files
  NotesFile file_;
  Failure failure_;      ///< what this rank could not write
  std::int64_t id_ = 0;  ///< of the sweep
  double interval_ = 60;
  std::deque<PetscInt> leaps_;
  PetscInt at_ = 0, solve_began_ = 0;
  std::map<PetscInt, SolveEnd> ends_;
  std::vector<EventNote> events_;  ///< until the sweep is over
  Bytes rest_;
  PetscInt rest_began_ = 0;
  PetscInt adjoint_first_ = -1;
  std::uint64_t adjoint_seed_ = 0;
  PetscInt next_commit_ = -1;
  double commit_at_ = 0;  ///< when the last one was made
  PetscInt committed_step_ = 0;
  std::int64_t commits_ = 0;
  bool came_ = false;                                ///< there was an earlier process
  std::int64_t adjoints_ = 0, adjoints_before_ = 0;  ///< adjoint solves of the sweep, and then
};

}  // namespace anadrome::petsc

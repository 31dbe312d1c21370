// SPDX-License-Identifier: BSD-2-Clause
// One forward sweep of a TS and the reverse sweeps back through it, as a run of the library.
//
// The library decides what is kept and what is run again; this carries its actions out with the TS.
// Step numbers are the TS's. The library's state k may be an earlier state with its own number:
// steps are run again only when a record is asked for that lies after the last point the program
// may have changed at (an event, the end of a TSSolve), because only then the program is as it was
// during these steps. A state therefore carries the number of the step it really is of.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <memory>
#include <string>

#include "api/petsc/records/kept_records.h"
#include "api/petsc/resume/resumption.h"
#include "api/petsc/settings/directory.h"
#include "api/petsc/settings/follower.h"
#include "api/petsc/settings/memory_shares.h"
#include "api/petsc/settings/settings.h"
#include "api/petsc/steps/replay.h"
#include "api/petsc/steps/step_watch.h"

namespace anadrome::petsc {

class Sweep {
 public:
  /// Collective, as all below. The TS is at its first record, `step`.
  /// After it, `leap` if it is `returning`.
  PetscErrorCode begin(TSTrajectory tj, TS ts, PetscInt step, KeptRecords& kept);
  /// The TS is at record `step`, the one after the last. Did an event jump there?
  PetscErrorCode step_done(PetscInt step, bool* jumped);
  /// The library may keep the state; what must be kept in full has been.
  PetscErrorCode hand_on(TSTrajectory tj, KeptRecords& kept);
  /// Every record is to be kept in full, and the library has not begun: there is memory for all of
  /// them so far.
  bool keeps_all() const { return keeps_all_; }
  /// So many, at most.
  std::int64_t most_kept() const { return shares_.most_kept; }
  /// The way that an earlier process went is gone in leaps: the TS is to be put at `next_leap`.
  bool returning() const { return resumption_.next() >= 0; }
  PetscInt next_leap() const { return resumption_.next(); }
  PetscErrorCode leap(const KeptRecords& kept);
  Resumption& resumption() { return resumption_; }
  /// Put record `step` into the TS.
  PetscErrorCode bring(TSTrajectory tj, PetscInt step, const KeptRecords& kept);
  /// The same, from the state before it.
  PetscErrorCode bring_from(TSTrajectory tj, PetscInt step, const KeptRecord& before);
  PetscErrorCode close();
  static PetscErrorCode close_all();
  /// After close: where the files were need not be any more.
  void leave_directory() { directory_.leave(); }

  bool holds(PetscInt step) const { return begun_ && base_ < step && step <= last_; }
  /// May `step` be the next record of the forward sweep?
  bool goes_on_with(PetscInt step) const {
    return run_ != nullptr && forward_ && step == last_ + 1;
  }
  bool ends_with(PetscInt step) const { return run_ != nullptr && forward_ && step == last_; }
  /// NULL after its end, for a trajectory that outlives it.
  TS ts() const { return watch_ != nullptr && watch_->alive() ? ts_ : nullptr; }
  /// The trajectory goes: the TS is left as it was.
  void leave_ts() {
    if (watch_ != nullptr) watch_->detach(this);
  }
  const StepNotes& notes() const { return notes_; }
  PetscInt steps() const { return last_ - first_; }
  std::int64_t steps_run_again() const { return steps_run_again_; }
  /// How many were compared with their first run.
  std::int64_t steps_compared() const { return preflight_steps_ + steps_run_again_; }
  /// A record is asked for on the way back: the forward sweep is over. `ended`: it is the first
  /// one, for the first time.
  PetscErrorCode asked_for(PetscInt step, bool* ended);
  /// Steps that were taken and are no part of the sweep.
  void pass_over() {
    if (watch_ != nullptr) (void)watch_->take();
  }
  bool begun() const { return begun_; }
  bool on_the_way_back() const { return asked_; }
  std::int64_t set_aside() const { return shares_.aside; }
  /// All records of so many steps were kept in full before, and of them the states are left.
  PetscInt steps_before_library() const { return base_ - first_; }
  /// NULL before the first sweep.
  const anadrome_run* run() const { return run_; }

 private:
  struct Live {  ///< the state in the TS's vectors
    std::int64_t step = -1;
    std::int64_t complete = 0;  ///< with the stages that led there
  };

  PetscErrorCode open(TSTrajectory tj);
  PetscErrorCode give_options(TSTrajectory tj);
  std::int64_t room_on_disk(std::int64_t states) const;
  PetscErrorCode set(const char* key, const std::string& value);
  PetscErrorCode next();
  PetscErrorCode check(anadrome_status status, const char* words = nullptr) const;
  std::string words_on(anadrome_status status, const Settings& settings) const;
  PetscErrorCode begin_library(TSTrajectory tj, bool resumes, KeptRecords& kept);
  PetscErrorCode require_same_size() const;
  PetscErrorCode require_same_form() const;
  PetscErrorCode preflight(TSTrajectory tj, PetscInt step, const KeptRecords& kept);
  PetscErrorCode note(PetscInt step);
  PetscErrorCode resume(std::int64_t done, const Fingerprint& first, KeptRecords& kept);
  PetscErrorCode replay(PetscInt from, PetscInt to);
  PetscErrorCode require_steps_said() const;
  PetscErrorCode finish_forward();
  PetscErrorCode finish_reverse();
  PetscErrorCode report_shares() const;
  PetscErrorCode turn_back();
  PetscErrorCode advance(TSTrajectory tj, std::int64_t to, const KeptRecords& kept);
  PetscErrorCode run_again(TSTrajectory tj, std::int64_t to);

  static int pack_state(void* self, void* buffer, std::size_t bytes);
  static int unpack_state(void* self, const void* buffer, std::size_t bytes);
  static int pack_tape(void* self, void* buffer, std::size_t bytes);
  static int unpack_tape(void* self, const void* buffer, std::size_t bytes);

  TS ts_ = nullptr;  ///< not ours; it owns the trajectory, or shares it
  std::shared_ptr<StepWatch> watch_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  anadrome_run* run_ = nullptr;
  RecordShape state_shape_, tape_shape_;
  RecordForm form_ = {};           ///< of these
  std::int64_t rest_columns_ = 0;  ///< likewise, of the rest of a state
  MemoryShares shares_;
  std::int64_t given_ = 0;  ///< bytes, to the library; 0: none yet
  bool keeps_all_ = false, begun_ = false;
  bool were_too_many_ = false;  ///< of the sweep before: this one will be no shorter
  std::size_t rest_bytes_ = 0;  ///< of a state, for a process that goes on
  bool taped_ = false;
  PetscBool files_stay_ = PETSC_FALSE;
  Directory directory_;
  std::string report_;  ///< where the summary goes
  anadrome_action action_{};
  bool forward_ = false;  ///< the forward sweep may go on
  bool preflighted_ = false;
  double began_ = 0;        ///< the sweep; seconds
  bool lost_ = false;       ///< a record could not be brought back
  bool arriving_ = false;   ///< states are those of an earlier process
  bool came_back_ = false;  ///< to the first record
  bool asked_ = false;      ///< for a record before the last
  bool over_ = false;       ///< nobody asks for a record any more
  PetscInt first_ = 0, last_ = 0;
  PetscInt base_ = 0;         ///< where the library begins: its step 0
  PetscInt steps_said_ = -1;  ///< how many there will be; -1: nobody said
  Live live_;
  PetscInt wanted_ = 0, floor_ = 0;  ///< no step beyond wanted_, none before floor_ is run again
  StepNotes notes_;
  Fingerprint print_;  ///< of the solution when last asked for
  Replay replay_;
  Follower follower_;
  std::int64_t steps_run_again_ = 0;
  std::int64_t preflight_steps_ = 0;  ///< likewise, of this sweep
  PetscInt events_seen_ = 0;          ///< of the TS's event recorder
  Resumption resumption_;
};

}  // namespace anadrome::petsc

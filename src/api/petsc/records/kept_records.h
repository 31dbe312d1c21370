// SPDX-License-Identifier: BSD-2-Clause
// Records that are kept in full, in memory, by their number: those that no recomputation leads to
// (the first one, at events, at the ends of TSSolve), those that were set or are asked for out of
// order, and all the first ones of a sweep as long as memory lasts. Of these last ones the states
// are left when it is used up, the others are never given up before the next forward sweep.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "api/petsc/records/record.h"

namespace anadrome::petsc {

struct KeptRecord {
  RecordShape shape;
  std::vector<std::byte> bytes;
  PetscReal time = 0;
  PetscReal previous_time = 0;
  RecordForm form = {};      ///< all zero: it has no stages, or nobody noted it
  bool by_number = false;    ///< set by the program, or out of order: no step leads to it
  bool starts_anew = false;  ///< steps are run again from here, never across
};

class KeptRecords {
 public:
  /// Most bytes of any rank.
  void set_limit(std::int64_t bytes) { limit_ = bytes; }
  std::int64_t limit() const { return limit_; }
  void clear();
  /// Collective; replaces what was kept under that number. PETSC_ERR_MEM beyond the limit.
  PetscErrorCode put(MPI_Comm comm, PetscInt step, KeptRecord&& record);
  /// Local: one for which there is room on all ranks.
  void put_back(PetscInt step, KeptRecord&& record);
  const KeptRecord* find(PetscInt step) const;
  /// The newest record in [least, most] that starts anew; -1: there is none.
  PetscInt start_between(PetscInt least, PetscInt most) const;
  /// Of records that do not start anew the states are left, which `state` finds;
  /// `limit` is for the others. Collective; PETSC_ERR_MEM if they take more.
  PetscErrorCode thin(MPI_Comm comm, std::int64_t limit);
  const KeptRecord* state(PetscInt step) const;
  std::int64_t bytes() const { return bytes_; }
  std::size_t count() const { return records_.size(); }

 private:
  PetscErrorCode require_room(MPI_Comm comm, PetscInt step, std::int64_t most) const;

  std::int64_t limit_ = 0;
  std::int64_t bytes_ = 0;
  std::map<PetscInt, KeptRecord> records_, states_;
};

/// A copy of what `ts` holds now.
PetscErrorCode make_record(TS ts, Vec X, RecordParts parts, KeptRecord* record);
/// The TS has a place for the stages of that record; PETSC_ERR_SUP on all ranks if not.
PetscErrorCode require_place(TS ts, PetscInt step, const RecordForm& form);

}  // namespace anadrome::petsc

// SPDX-License-Identifier: BSD-2-Clause
// Records that are kept in full, in memory, by their number: those that no recomputation leads to
// (the first one, at events, at the ends of TSSolve) and those that were set or are asked for out
// of order. They are never given up before the next forward sweep.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "api/petsc/record.h"

namespace anadrome::petsc {

struct KeptRecord {
  RecordShape shape;
  std::vector<std::byte> bytes;
  PetscReal time = 0;
  PetscReal previous_time = 0;
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
  /// Local: one that was put by an earlier process, within its limit.
  void put_back(PetscInt step, KeptRecord&& record);
  const KeptRecord* find(PetscInt step) const;
  /// The newest record in [least, most] that starts anew; -1: there is none.
  PetscInt start_between(PetscInt least, PetscInt most) const;
  std::int64_t bytes() const { return bytes_; }
  std::size_t count() const { return records_.size(); }

 private:
  std::int64_t limit_ = 0;
  std::int64_t bytes_ = 0;
  std::map<PetscInt, KeptRecord> records_;
};

/// A copy of what `ts` holds now.
PetscErrorCode make_record(TS ts, Vec X, RecordParts parts, KeptRecord* record);

}  // namespace anadrome::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/records/kept_records.h"

#include <utility>

#include "base/byte_size.h"

namespace anadrome::petsc {

void KeptRecords::clear() {
  records_.clear();
  states_.clear();
  bytes_ = 0;
}

PetscErrorCode KeptRecords::require_room(MPI_Comm comm, PetscInt step, std::int64_t most) const {
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, comm));
  PetscCheck(most <= limit_, comm, PETSC_ERR_MEM,
             "record %" PetscInt_FMT
             " must be kept in full, and with %zu others that takes %s of "
             "the %s set aside for it; raise -ts_trajectory_anadrome_set_aside or "
             "-ts_trajectory_anadrome_memory",
             step, records_.size(), format_bytes(most).c_str(), format_bytes(limit_).c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KeptRecords::thin(MPI_Comm comm, std::int64_t limit) {
  PetscFunctionBegin;
  limit_ = limit;
  for (auto at = records_.begin(); at != records_.end();) {
    if (at->second.starts_anew || at->second.by_number) {
      ++at;
      continue;
    }
    KeptRecord& record = at->second;
    bytes_ -= static_cast<std::int64_t>(record.bytes.size());
    record.shape.stages = record.shape.stage_sensitivities = 0;
    const auto state = record.bytes.begin() + static_cast<std::ptrdiff_t>(record.shape.bytes());
    record.bytes = std::vector<std::byte>(record.bytes.begin(), state);
    states_[at->first] = std::move(record);
    at = records_.erase(at);
  }
  PetscCall(require_room(comm, records_.empty() ? 0 : records_.rbegin()->first, bytes_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const KeptRecord* KeptRecords::state(PetscInt step) const {
  const auto found = states_.find(step);
  return found == states_.end() ? nullptr : &found->second;
}

PetscErrorCode KeptRecords::put(MPI_Comm comm, PetscInt step, KeptRecord&& record) {
  PetscFunctionBegin;
  const KeptRecord* old = find(step);
  const auto added = static_cast<std::int64_t>(record.bytes.size());
  const auto dropped = static_cast<std::int64_t>(old == nullptr ? 0 : old->bytes.size());
  PetscCall(require_room(comm, step, bytes_ + added - dropped));
  bytes_ += added - dropped;
  records_[step] = std::move(record);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void KeptRecords::put_back(PetscInt step, KeptRecord&& record) {
  bytes_ += static_cast<std::int64_t>(record.bytes.size());
  records_[step] = std::move(record);
}

const KeptRecord* KeptRecords::find(PetscInt step) const {
  const auto found = records_.find(step);
  return found == records_.end() ? nullptr : &found->second;
}

PetscInt KeptRecords::start_between(PetscInt least, PetscInt most) const {
  for (auto at = records_.upper_bound(most); at != records_.begin();) {
    --at;
    if (at->first < least) break;
    if (at->second.starts_anew) return at->first;
  }
  return -1;
}

PetscErrorCode make_record(TS ts, Vec X, RecordParts parts, KeptRecord* record) {
  PetscFunctionBegin;
  PetscCall(record_shape(ts, X, parts, &record->shape));
  record->bytes.resize(record->shape.bytes());
  PetscCall(record_to_bytes(ts, X, record->shape, record->bytes.data()));
  if (parts == RecordParts::kWhole) PetscCall(record_form(ts, &record->form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// They would be left out, and those of another step taken for them.
PetscErrorCode require_place(TS ts, PetscInt step, const RecordForm& form) {
  RecordForm now = {};
  PetscFunctionBegin;
  if (form == now) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(record_form(ts, &now));
  PetscCheck(fits(now, form), comm_of(ts), PETSC_ERR_SUP,
             "record %" PetscInt_FMT
             " is of another method than the TS has now (%s), and cannot be adjoined by this one",
             step, kMethodSetters);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/records/record.h"

#include <cstring>

#include "api/petsc/records/method_memory.h"
#include "api/petsc/records/ts_parts.h"

namespace anadrome::petsc {
namespace {

PetscErrorCode mat_bytes(Mat m, std::size_t* bytes) {
  PetscInt rows = 0, columns = 0;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(m, &rows, nullptr));
  PetscCall(MatGetSize(m, nullptr, &columns));
  *bytes = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * sizeof(PetscScalar);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Way kWay, class Bytes>
PetscErrorCode move_mat(Mat m, Bytes*& cursor) {
  PetscInt rows = 0, columns = 0, lead = 0;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(m, &rows, nullptr));
  PetscCall(MatGetSize(m, nullptr, &columns));
  PetscCall(MatDenseGetLDA(m, &lead));
  const std::size_t column = static_cast<std::size_t>(rows) * sizeof(PetscScalar);
  PetscScalar* values = nullptr;
  PetscCall(MatDenseGetArray(m, &values));
  for (PetscInt j = 0; j < columns && column > 0; ++j, cursor += column) {
    PetscScalar* const at = values + static_cast<std::size_t>(j) * static_cast<std::size_t>(lead);
    if constexpr (kWay == Way::kOut) {
      std::memcpy(cursor, at, column);
    } else {
      std::memcpy(at, cursor, column);
    }
  }
  PetscCall(MatDenseRestoreArray(m, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The stages that are not the solution itself.
PetscErrorCode own_stages(TS ts, PetscInt* count, Vec** stages) {
  PetscFunctionBegin;
  PetscCall(TSGetStages(ts, count, stages));
  if (ts->stifflyaccurate && *count > 0) --*count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Their forward sensitivities; a theta method's last one is the matrix of the solution itself.
PetscErrorCode own_stage_sensitivities(TS ts, PetscInt* count, Mat** stages) {
  PetscFunctionBegin;
  PetscCall(TSForwardGetStages(ts, count, stages));
  if (*stages == nullptr) *count = 0;
  while (*count > 0 && (*stages)[*count - 1] == ts->mat_sensip) --*count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Way kWay, class Bytes>
PetscErrorCode move_stages(TS ts, const RecordShape& shape, Bytes*& cursor) {
  PetscInt count = 0;
  PetscFunctionBegin;
  if (shape.stages > 0) {
    Vec* stages = nullptr;
    PetscCall(own_stages(ts, &count, &stages));
    for (PetscInt i = 0; i < count; ++i) PetscCall(move_vec<kWay>(stages[i], cursor));
  }
  if (shape.stage_sensitivities > 0) {
    Mat* stages = nullptr;
    PetscCall(own_stage_sensitivities(ts, &count, &stages));
    for (PetscInt i = 0; i < count; ++i) PetscCall(move_mat<kWay>(stages[i], cursor));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode record_shape(TS ts, Vec X, RecordParts parts, RecordShape* shape) {
  PetscInt count = 0;
  std::size_t bytes = 0;
  PetscFunctionBegin;
  *shape = {};
  PetscCall(vec_bytes(X, &shape->solution));
  if (parts == RecordParts::kSolution) PetscFunctionReturn(PETSC_SUCCESS);
  if (ts->forward_solve) PetscCall(mat_bytes(ts->mat_sensip, &shape->sensitivities));
  PetscCall(method_memory_bytes(ts, &shape->memory));
  if (parts == RecordParts::kState) PetscFunctionReturn(PETSC_SUCCESS);
  Vec* stages = nullptr;
  PetscCall(own_stages(ts, &count, &stages));
  for (PetscInt i = 0; i < count; ++i) {
    PetscCall(vec_bytes(stages[i], &bytes));
    shape->stages += bytes;
  }
  if (!ts->forward_solve) PetscFunctionReturn(PETSC_SUCCESS);
  Mat* matrices = nullptr;
  PetscCall(own_stage_sensitivities(ts, &count, &matrices));
  for (PetscInt i = 0; i < count; ++i) {
    PetscCall(mat_bytes(matrices[i], &bytes));
    shape->stage_sensitivities += bytes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode record_to_bytes(TS ts, Vec X, const RecordShape& shape, std::byte* to) {
  PetscFunctionBegin;
  PetscCall(move_vec<Way::kOut>(X, to));
  if (shape.sensitivities > 0) PetscCall(move_mat<Way::kOut>(ts->mat_sensip, to));
  if (shape.memory > 0) PetscCall(method_memory_to_bytes(ts, to));
  to += shape.memory;
  PetscCall(move_stages<Way::kOut>(ts, shape, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode record_from_bytes(TS ts, const RecordShape& shape, const std::byte* from) {
  Vec X = nullptr;
  RecordShape place;
  PetscFunctionBegin;
  PetscCall(TSGetSolution(ts, &X));
  PetscCall(record_shape(ts, X, RecordParts::kWhole, &place));
  PetscCheck(place.solution == shape.solution, PetscObjectComm(reinterpret_cast<PetscObject>(ts)),
             PETSC_ERR_ARG_SIZ, "the solution has another size than when the record was made");
  const bool sensitivities = shape.sensitivities > 0 && place.sensitivities == shape.sensitivities;
  PetscCall(move_vec<Way::kIn>(X, from));
  if (sensitivities) {
    PetscCall(move_mat<Way::kIn>(ts->mat_sensip, from));
  } else {
    from += shape.sensitivities;
  }
  if (place.memory == shape.memory) PetscCall(method_memory_from_bytes(ts, from));
  from += shape.memory;
  const bool stages =
      place.stages == shape.stages &&
      (shape.stage_sensitivities == 0 || place.stage_sensitivities == shape.stage_sensitivities);
  if (stages) PetscCall(move_stages<Way::kIn>(ts, shape, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

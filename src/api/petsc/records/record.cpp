// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/records/record.h"

#include <array>

#include "api/petsc/records/method_memory.h"
#include "api/petsc/records/ts_parts.h"

namespace anadrome::petsc {
namespace {

// In their order in a record.
constexpr std::array kSizes = {&RecordShape::solution, &RecordShape::sensitivities,
                               &RecordShape::memory, &RecordShape::stages,
                               &RecordShape::stage_sensitivities};
constexpr std::size_t kSensitivities = 1, kMemory = 2, kStageSensitivities = 4;
using Parts = std::array<TsParts, kSizes.size()>;

// `X` has to stay where it is.
PetscErrorCode parts_of(TS ts, const Vec& X, RecordParts which, Parts* parts) {
  auto& [solution, sensitivities, memory, stages, stage_sensitivities] = *parts;
  PetscInt count = 0;
  PetscFunctionBegin;
  solution.more = {&X, 1};
  const bool alone = which == RecordParts::kSolution || ts->setupcalled == PETSC_FALSE;
  if (alone) PetscFunctionReturn(PETSC_SUCCESS);  // a method that is not set up has no vectors
  if (ts->forward_solve) sensitivities.matrices = {&ts->mat_sensip, 1};
  PetscCall(method_memory(ts, &memory));
  if (which == RecordParts::kState) PetscFunctionReturn(PETSC_SUCCESS);
  // The stages that are not the solution itself.
  Vec* vectors = nullptr;
  PetscCall(TSGetStages(ts, &count, &vectors));
  if (ts->stifflyaccurate && count > 0) --count;
  stages.more = {vectors, static_cast<std::size_t>(count)};
  if (!ts->forward_solve) PetscFunctionReturn(PETSC_SUCCESS);
  // Their forward sensitivities; a theta method's last one is the matrix of the solution itself.
  Mat* matrices = nullptr;
  PetscCall(TSForwardGetStages(ts, &count, &matrices));
  if (matrices == nullptr) count = 0;
  while (count > 0 && matrices[count - 1] == ts->mat_sensip) --count;
  stage_sensitivities.matrices = {matrices, static_cast<std::size_t>(count)};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode shape_of(const Parts& parts, RecordShape* shape) {
  PetscFunctionBegin;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    PetscCall(parts_bytes(parts[i], &(shape->*kSizes[i])));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode record_shape(TS ts, Vec X, RecordParts which, RecordShape* shape) {
  Parts parts;
  PetscFunctionBegin;
  PetscCall(parts_of(ts, X, which, &parts));
  PetscCall(shape_of(parts, shape));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode record_form(TS ts, RecordForm* form) {
  Parts parts;
  PetscFunctionBegin;
  PetscCall(parts_of(ts, ts->vec_sol, RecordParts::kWhole, &parts));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    PetscCall(parts_columns(parts[i], &(*form)[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool fits(const RecordForm& now, const RecordForm& then) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    const bool optional = i == kSensitivities || i == kStageSensitivities;
    const bool absent = optional && (now[i] == 0 || then[i] == 0);
    if (now[i] != then[i] && !absent) return false;
  }
  return true;
}

PetscErrorCode record_to_bytes(TS ts, Vec X, const RecordShape& shape, std::byte* to) {
  const bool stages = shape.stages > 0 || shape.stage_sensitivities > 0;
  const bool state = shape.sensitivities > 0 || shape.memory > 0;
  Parts parts;
  PetscFunctionBegin;
  PetscCall(parts_of(ts, X,
                     stages  ? RecordParts::kWhole
                     : state ? RecordParts::kState
                             : RecordParts::kSolution,
                     &parts));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t bytes = shape.*kSizes[i];
    if (i > 0 && bytes == 0) continue;
    std::size_t now = 0;
    PetscCall(parts_bytes(parts[i], &now));
    PetscCheck(now == bytes || now == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "a record takes another size than there is room for");
    PetscCall(parts_to_bytes(parts[i], to));
    to += bytes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode record_from_bytes(TS ts, const RecordShape& shape, const std::byte* from) {
  Vec X = nullptr;
  Parts parts;
  RecordShape place;
  PetscFunctionBegin;
  PetscCall(TSGetSolution(ts, &X));
  PetscCall(parts_of(ts, X, RecordParts::kWhole, &parts));
  PetscCall(shape_of(parts, &place));
  PetscCheck(place.solution == shape.solution, comm_of(ts), PETSC_ERR_ARG_SIZ,
             "the solution has another size than when the record was made");
  const bool stages =
      place.stages == shape.stages &&
      (shape.stage_sensitivities == 0 || place.stage_sensitivities == shape.stage_sensitivities);
  const std::array taken = {true,
                            shape.sensitivities > 0 && place.sensitivities == shape.sensitivities,
                            place.memory == shape.memory, stages && shape.stages > 0,
                            stages && shape.stage_sensitivities > 0};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (taken[i]) PetscCall(parts_from_bytes(parts[i], from));
    if (taken[i] && i == kMemory) PetscCall(method_memory_is_back(ts));
    from += shape.*kSizes[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

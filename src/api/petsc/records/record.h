// SPDX-License-Identifier: BSD-2-Clause
// Record n of a TS: what TSAdjointStep reads to go from step n to n-1. X_n, the stages of the step
// n-1 -> n and, with forward sensitivities, these and their stages; and what the method remembers.
// It lives in the TS; this is the way between there and plain bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "api/petsc/records/petsc_private.h"

namespace anadrome::petsc {

/// Bytes of this rank, part by part.
struct RecordShape {
  std::size_t solution = 0;
  std::size_t sensitivities = 0;  ///< 0: no forward sensitivities
  std::size_t memory = 0;         ///< of the method
  std::size_t stages = 0;         ///< without those that are the solution
  std::size_t stage_sensitivities = 0;

  std::size_t bytes() const {
    return solution + sensitivities + memory + stages + stage_sensitivities;
  }
  bool operator==(const RecordShape&) const = default;
};

enum class RecordParts {
  kSolution,  ///< X alone; there may be no TS
  kState,     ///< what a step needs to go on: X, forward sensitivities, the method's memory
  kWhole      ///< and the stages that led there
};

PetscErrorCode record_shape(TS ts, Vec X, RecordParts parts, RecordShape* shape);

/// What the method makes of a record, part by part (parts_columns): it changes where the method
/// does, on all ranks alike, and also on one without a part of the solution.
using RecordForm = std::array<std::int64_t, 5>;
PetscErrorCode record_form(TS ts, RecordForm* form);
/// Are they of one method? Forward sensitivities may have been given up, or come later.
bool fits(const RecordForm& now, const RecordForm& then);
/// What changes it.
inline constexpr char kMethodSetters[] = "TSSetType, TSRKSetType, TSThetaSetTheta, TSBDFSetOrder";

/// Copy the parts that `shape` has from the TS (X from `X`), if they have that shape.
PetscErrorCode record_to_bytes(TS ts, Vec X, const RecordShape& shape, std::byte* to);
/// The way back, into the TS's own vectors. Parts that the TS has no place for are left out.
PetscErrorCode record_from_bytes(TS ts, const RecordShape& shape, const std::byte* from);

}  // namespace anadrome::petsc

// SPDX-License-Identifier: BSD-2-Clause
// Parts of a TS to plain bytes and back: vectors and dense matrices of PETSc, whose values may be
// in the memory of a device, and numbers inside its structures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "api/petsc/records/petsc_private.h"

namespace anadrome::petsc {

/// Parts of a TS, where they lie.
struct TsParts {
  std::vector<Vec> vectors = {};
  std::vector<std::span<std::byte>> numbers = {};
  std::span<const Vec> more =
      {};  ///< vectors that a method has in a row: no memory is taken for them
  std::span<const Mat> matrices = {};
};

/// Bytes of this rank.
PetscErrorCode parts_bytes(const TsParts& parts, std::size_t* bytes);
/// Vectors, columns of matrices and bytes of numbers together, the same on all ranks.
PetscErrorCode parts_columns(const TsParts& parts, std::int64_t* columns);
PetscErrorCode parts_to_bytes(const TsParts& parts, std::byte* to);
PetscErrorCode parts_from_bytes(const TsParts& parts, const std::byte* from);

/// The values of a vector, to be read here: those of a device are copied, and PETSc's own copy on
/// the host is left as it is.
class ValuesOnHost {
 public:
  PetscErrorCode get(Vec v, const PetscScalar** values);
  PetscErrorCode give_back(Vec v);

 private:
  const PetscScalar* values_ = nullptr;
  std::vector<PetscScalar> copy_;
};

}  // namespace anadrome::petsc

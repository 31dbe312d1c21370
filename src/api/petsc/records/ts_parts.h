// SPDX-License-Identifier: BSD-2-Clause
// Vectors of PETSc, and numbers inside its structures, to plain bytes and back.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "api/petsc/records/device_copy.h"
#include "api/petsc/records/petsc_private.h"

namespace anadrome::petsc {

enum class Way { kOut, kIn };

inline PetscErrorCode vec_bytes(Vec v, std::size_t* bytes) {
  PetscInt size = 0;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &size));
  *bytes = static_cast<std::size_t>(size) * sizeof(PetscScalar);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One vector, from where its values are and to where they are to be, and the cursor moves on.
template <Way kWay, class Bytes>
PetscErrorCode move_vec(Vec v, Bytes*& cursor) {
  std::size_t bytes = 0;
  PetscMemType memory = PETSC_MEMTYPE_HOST;
  PetscFunctionBegin;
  PetscCall(vec_bytes(v, &bytes));
  if constexpr (kWay == Way::kOut) {
    const PetscScalar* values = nullptr;
    PetscCall(VecGetArrayReadAndMemType(v, &values, &memory));
    PetscCall(copy_bytes(cursor, values, bytes, PetscMemTypeDevice(memory) ? values : nullptr));
    PetscCall(VecRestoreArrayReadAndMemType(v, &values));
  } else {
    PetscScalar* values = nullptr;
    PetscCall(VecGetArrayWriteAndMemType(v, &values, &memory));
    PetscCall(copy_bytes(values, cursor, bytes, PetscMemTypeDevice(memory) ? values : nullptr));
    PetscCall(VecRestoreArrayWriteAndMemType(v, &values));
  }
  cursor += bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Parts of a TS, where they lie.
struct TsParts {
  std::vector<Vec> vectors;
  std::vector<std::span<std::byte>> numbers;
};

inline PetscErrorCode parts_bytes(const TsParts& parts, std::size_t* bytes) {
  PetscFunctionBegin;
  *bytes = 0;
  for (const std::span<std::byte> numbers : parts.numbers) *bytes += numbers.size();
  for (const Vec vector : parts.vectors) {
    std::size_t one = 0;
    PetscCall(vec_bytes(vector, &one));
    *bytes += one;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode parts_to_bytes(const TsParts& parts, std::byte* to) {
  PetscFunctionBegin;
  for (const std::span<std::byte> numbers : parts.numbers) {
    std::memcpy(to, numbers.data(), numbers.size());
    to += numbers.size();
  }
  for (const Vec vector : parts.vectors) PetscCall(move_vec<Way::kOut>(vector, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode parts_from_bytes(const TsParts& parts, const std::byte* from) {
  PetscFunctionBegin;
  for (const std::span<std::byte> numbers : parts.numbers) {
    std::memcpy(numbers.data(), from, numbers.size());
    from += numbers.size();
  }
  for (const Vec vector : parts.vectors) PetscCall(move_vec<Way::kIn>(vector, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

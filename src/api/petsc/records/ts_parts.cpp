// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/records/ts_parts.h"

#include <petscdevice.h>

#include <cstring>

#include "api/petsc/records/guard.h"
#include "device/at_once.h"

namespace anadrome::petsc {
namespace {

enum class Way { kOut, kIn };

// `on_device`: the end that is on a device; NULL: both are on the host. Waits for the work of
// PETSc's current device context, and for the copy.
PetscErrorCode copy_bytes(void* to, const void* from, std::size_t bytes, const void* on_device) {
  PetscFunctionBegin;
  if (bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (on_device == nullptr) {
    std::memcpy(to, from, bytes);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscDeviceContext context = nullptr;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context));
  PetscCall(guard([&] {
    device::copy_at_once(to, from, bytes, on_device);
    return PETSC_SUCCESS;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode vec_bytes(Vec v, std::size_t* bytes) {
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

template <Way kWay, class Bytes>
PetscErrorCode move_parts(const TsParts& parts, Bytes* at) {
  PetscFunctionBegin;
  for (const std::span<std::byte> numbers : parts.numbers) {
    if constexpr (kWay == Way::kOut) {
      std::memcpy(at, numbers.data(), numbers.size());
    } else {
      std::memcpy(numbers.data(), at, numbers.size());
    }
    at += numbers.size();
  }
  for (const std::span<const Vec> vectors : {std::span<const Vec>(parts.vectors), parts.more}) {
    for (const Vec vector : vectors) PetscCall(move_vec<kWay>(vector, at));
  }
  for (const Mat matrix : parts.matrices) PetscCall(move_mat<kWay>(matrix, at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode parts_bytes(const TsParts& parts, std::size_t* bytes) {
  std::size_t one = 0;
  PetscFunctionBegin;
  *bytes = 0;
  for (const std::span<std::byte> numbers : parts.numbers) *bytes += numbers.size();
  for (const std::span<const Vec> vectors : {std::span<const Vec>(parts.vectors), parts.more}) {
    for (const Vec vector : vectors) {
      PetscCall(vec_bytes(vector, &one));
      *bytes += one;
    }
  }
  for (const Mat matrix : parts.matrices) {
    PetscCall(mat_bytes(matrix, &one));
    *bytes += one;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode parts_columns(const TsParts& parts, std::int64_t* columns) {
  PetscInt of_matrix = 0;
  PetscFunctionBegin;
  *columns = std::ssize(parts.vectors) + std::ssize(parts.more);
  for (const std::span<std::byte> numbers : parts.numbers) *columns += std::ssize(numbers);
  for (const Mat matrix : parts.matrices) {
    PetscCall(MatGetSize(matrix, nullptr, &of_matrix));
    *columns += of_matrix;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode parts_to_bytes(const TsParts& parts, std::byte* to) {
  PetscFunctionBegin;
  PetscCall(move_parts<Way::kOut>(parts, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode parts_from_bytes(const TsParts& parts, const std::byte* from) {
  PetscFunctionBegin;
  PetscCall(move_parts<Way::kIn>(parts, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesOnHost::get(Vec v, const PetscScalar** values) {
  PetscInt size = 0;
  PetscMemType memory = PETSC_MEMTYPE_HOST;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &size));
  PetscCall(VecGetArrayReadAndMemType(v, &values_, &memory));
  *values = values_;
  if (!PetscMemTypeDevice(memory)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guard([&] {
    copy_.resize(static_cast<std::size_t>(size));
    return PETSC_SUCCESS;
  }));
  PetscCall(copy_bytes(copy_.data(), values_, copy_.size() * sizeof(PetscScalar), values_));
  *values = copy_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesOnHost::give_back(Vec v) {
  PetscFunctionBegin;
  PetscCall(VecRestoreArrayReadAndMemType(v, &values_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

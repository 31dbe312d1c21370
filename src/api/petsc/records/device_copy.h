// SPDX-License-Identifier: BSD-2-Clause
// Bytes of vectors whose values are in the memory of a device.
#pragma once

#include <petscvec.h>

#include <cstddef>
#include <vector>

namespace anadrome::petsc {

/// `on_device`: the end that is on a device; NULL: both are on the host. Waits for the work of
/// PETSc's current device context, and for the copy.
PetscErrorCode copy_bytes(void* to, const void* from, std::size_t bytes, const void* on_device);

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

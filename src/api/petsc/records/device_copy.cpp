// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/records/device_copy.h"

#include <petscdevice.h>

#include <cstring>

#include "api/petsc/records/guard.h"
#include "device/at_once.h"

namespace anadrome::petsc {
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

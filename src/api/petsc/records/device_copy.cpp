// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/records/device_copy.h"

#include <petscdevice.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "api/petsc/records/guard.h"
#include "device/device.h"

namespace anadrome::petsc {
namespace {

// Those that vectors were met on; streams of ours wait for PETSc's on the host, so none is theirs.
device::Device& device_of(const void* pointer) {
  static std::vector<std::shared_ptr<device::Device>> known;
  const auto driver = device::loaded_driver(pointer);
  void* place = nullptr;
  if (driver == nullptr || driver->owner(driver->context, pointer, &place) != 0) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                "a vector is on a device of which neither CUDA's nor HIP's driver knows");
  }
  const auto found = std::ranges::find_if(
      known, [&](const auto& device) { return device->is(driver.get(), place); });
  if (found != known.end()) return **found;
  known.push_back(std::make_shared<device::Device>(driver, place));
  return *known.back();
}

void copy_and_wait(void* to, const void* from, std::size_t bytes, const void* on_device) {
  const Failure failed =
      device_of(on_device)
          .copy(device::Route::kFar, to, from, bytes, nullptr, device::Device::After::kNothing)
          .wait();
  if (failed) throw Error(failed.status, failed.message);
}

}  // namespace

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
    copy_and_wait(to, from, bytes, on_device);
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

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>
#include <new>

#include "api/petsc/records/petsc_private.h"

namespace anadrome::petsc {

/// What PETSc calls: no exception leaves through its C frames.
template <class Body>
PetscErrorCode guard(Body&& body) {
  PetscFunctionBegin;
  try {
    PetscCall(body());
  } catch (const std::bad_alloc&) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "anadrome: out of memory");
  } catch (const std::exception& error) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "anadrome: %s", error.what());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

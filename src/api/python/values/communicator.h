// SPDX-License-Identifier: BSD-2-Clause
// Communicators of mpi4py.
#pragma once

#include <mpi.h>

#include "api/python/values/python.h"

namespace anadrome::python {

#ifdef ANADROME_ONE_PROCESS
inline constexpr bool kHasMpi = false;
#else
inline constexpr bool kHasMpi = true;
#endif

/// The handle of an mpi4py.MPI.Comm. Raises TypeError, and ERR_UNSUPPORTED where mpi4py has another
/// MPI, or this build has none.
MPI_Comm communicator_of(const py::object& comm);

}  // namespace anadrome::python

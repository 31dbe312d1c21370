// SPDX-License-Identifier: BSD-2-Clause
// Communicators of mpi4py.
#pragma once

#include <mpi.h>

#include "api/python/python.h"

namespace anadrome::python {

/// The handle of an mpi4py.MPI.Comm. Raises TypeError, and ERR_UNSUPPORTED where mpi4py has another
/// MPI.
MPI_Comm communicator_of(const py::object& comm);

}  // namespace anadrome::python

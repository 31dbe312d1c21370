// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/values/communicator.h"

#include <string>

#ifndef ANADROME_ONE_PROCESS
#include <mpi4py/mpi4py.h>
#endif

#include "api/python/values/errors.h"

namespace anadrome::python {
#ifdef ANADROME_ONE_PROCESS

MPI_Comm communicator_of(const py::object& comm) {
  if (!py::isinstance(comm, py::module_::import("anadrome._ranks").attr("OneProcess")))
    raise(ANADROME_ERR_UNSUPPORTED,
          "this anadrome was built without MPI (ANADROME_MPI=OFF): leave the communicator out");
  return MPI_COMM_SELF;
}

#else
namespace {

// Handles of one MPI are no handles of another.
void require_the_same_mpi() {
  char ours[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(ours, &length);
  const auto theirs =
      py::cast<std::string>(py::module_::import("mpi4py.MPI").attr("Get_library_version")());
  // Open MPI counts the byte at the end, and mpi4py takes what is counted.
  if (theirs == std::string(ours, static_cast<std::size_t>(length))) return;
  raise(ANADROME_ERR_UNSUPPORTED, "mpi4py was built with another MPI (" + theirs +
                                      ") than anadrome (" + ours + "); install both for the same");
}

}  // namespace

MPI_Comm communicator_of(const py::object& comm) {
  require_the_same_mpi();
  if (import_mpi4py() < 0) throw py::error_already_set();
  MPI_Comm* const handle = PyMPIComm_Get(comm.ptr());  // a TypeError of its own
  if (handle == nullptr) throw py::error_already_set();
  return *handle;
}

#endif
}  // namespace anadrome::python

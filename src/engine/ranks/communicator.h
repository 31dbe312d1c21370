// SPDX-License-Identifier: BSD-2-Clause
// The RAII owner of a communicator.
#pragma once

#include <mpi.h>

#include "base/owner.h"

namespace anadrome {

struct CloseCommunicator {
  inline static const MPI_Comm kNull = MPI_COMM_NULL;
  static bool owns(MPI_Comm comm) { return comm != MPI_COMM_NULL; }
  static void close(MPI_Comm comm) {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) MPI_Comm_free(&comm);
  }
};
using Communicator = Owner<MPI_Comm, CloseCommunicator>;

}  // namespace anadrome

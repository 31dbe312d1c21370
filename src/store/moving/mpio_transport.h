// SPDX-License-Identifier: BSD-2-Clause
// transport=mpio: H5Dwrite and H5Dread through parallel HDF5 on the calling thread, without
// overlap: for file systems that have no POSIX view, and as the baseline that the direct path is
// measured against. The one header of the store that knows MPI.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "store/moving/transport.h"

namespace anadrome::store {

/// Transfers are collective over `file_comm`.
std::unique_ptr<Transport> make_mpio_transport(const BlockLayout& layout,
                                               const TransportOptions& options,
                                               std::vector<Field> state_fields, MPI_Comm file_comm);

}  // namespace anadrome::store

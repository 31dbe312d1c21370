// SPDX-License-Identifier: BSD-2-Clause
#include "engine/ranks/ranks.h"

#include <cstdio>

#include "base/error.h"

namespace anadrome::engine {

void require_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char said[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, said, &length);
  char line[900];
  std::snprintf(line, sizeof line, "%s failed: %s", what, static_cast<const char*>(said));
  throw Error(ANADROME_ERR_PEER, line);
}

MpiRanks::MpiRanks(MPI_Comm comm) {
  MPI_Comm duplicate = MPI_COMM_NULL;
  require_mpi(MPI_Comm_dup(comm, &duplicate), "MPI_Comm_dup");
  comm_ = Communicator(duplicate);
  MPI_Comm_set_errhandler(duplicate, MPI_ERRORS_RETURN);
  MPI_Comm_rank(duplicate, &rank_);
  MPI_Comm_size(duplicate, &size_);
}

void MpiRanks::largest(std::span<std::int64_t> values) {
  require_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                            MPI_INT64_T, MPI_MAX, comm_.get()),
              "MPI_Allreduce");
}

void MpiRanks::largest(std::span<double> values) {
  require_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                            MPI_DOUBLE, MPI_MAX, comm_.get()),
              "MPI_Allreduce");
}

void MpiRanks::sum(std::span<std::int64_t> values) {
  require_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                            MPI_INT64_T, MPI_SUM, comm_.get()),
              "MPI_Allreduce");
}

// MPI does not promise that an all-reduce of rounded numbers gives every rank the same.
void MpiRanks::sum(std::span<double> values) {
  const int count = static_cast<int>(values.size());
  const bool root = rank_ == 0;
  require_mpi(MPI_Reduce(root ? MPI_IN_PLACE : values.data(), values.data(), count, MPI_DOUBLE,
                         MPI_SUM, 0, comm_.get()),
              "MPI_Reduce");
  broadcast(std::as_writable_bytes(values), 0);
}

void MpiRanks::broadcast(std::span<std::byte> bytes, int root) {
  require_mpi(MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, root, comm_.get()),
              "MPI_Bcast");
}

MPI_Comm MpiRanks::node() {
  if (!node_) {
    MPI_Comm node = MPI_COMM_NULL;
    require_mpi(MPI_Comm_split_type(comm_.get(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
                "MPI_Comm_split_type");
    node_ = Communicator(node);
  }
  return node_.get();
}

int MpiRanks::rank_on_node() {
  int rank = 0;
  MPI_Comm_rank(node(), &rank);
  return rank;
}

void MpiRanks::broadcast_on_node(std::span<std::byte> bytes) {
  require_mpi(MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, node()),
              "MPI_Bcast");
}

std::int64_t first_that_differs(Ranks& ranks, std::span<std::int64_t> both) {
  ranks.largest(both);
  const std::size_t values = both.size() / 2;
  for (std::size_t i = 0; i < values; ++i) {
    if (both[i] != ~both[i + values]) return static_cast<std::int64_t>(i);
  }
  return -1;
}

}  // namespace anadrome::engine

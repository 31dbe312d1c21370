// SPDX-License-Identifier: BSD-2-Clause
// The calls of MPI for directories and files, answered for one rank without MPI_Init: the engine's
// parts have a disk in these tests. Agreements go through ThreadRanks.
#include <mpi.h>

#include <cstring>

extern "C" {

int MPI_Comm_dup(MPI_Comm, MPI_Comm* made) { return *made = MPI_COMM_SELF, MPI_SUCCESS; }
int MPI_Comm_split_type(MPI_Comm, int, int, MPI_Info, MPI_Comm* made) {
  return *made = MPI_COMM_SELF, MPI_SUCCESS;
}
int MPI_Comm_free(MPI_Comm* comm) { return *comm = MPI_COMM_NULL, MPI_SUCCESS; }
int MPI_Comm_rank(MPI_Comm, int* rank) { return *rank = 0, MPI_SUCCESS; }
int MPI_Comm_size(MPI_Comm, int* size) { return *size = 1, MPI_SUCCESS; }
int MPI_Barrier(MPI_Comm) { return MPI_SUCCESS; }
int MPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm) { return MPI_SUCCESS; }
int MPI_Exscan(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) { return MPI_SUCCESS; }

// The engine's numbers have 8 bytes, but for one flag.
int MPI_Allreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op, MPI_Comm) {
  const std::size_t bytes = type == MPI_INT ? sizeof(int) : 8;
  if (mine != MPI_IN_PLACE) std::memcpy(all, mine, static_cast<std::size_t>(count) * bytes);
  return MPI_SUCCESS;
}
int MPI_Gather(const void* mine, int count, MPI_Datatype type, void* all, int, MPI_Datatype, int,
               MPI_Comm comm) {
  return MPI_Allreduce(mine, all, count, type, MPI_SUM, comm);
}

}  // extern "C"

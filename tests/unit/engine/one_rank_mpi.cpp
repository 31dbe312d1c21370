// What files and directories ask of MPI, for communicators that have one rank, before MPI_Init: the
// engine's parts work on a disk without a launcher. Agreements go through ThreadRanks instead.
#include <mpi.h>

#include <cstring>

extern "C" {

int MPI_Comm_dup(MPI_Comm, MPI_Comm* duplicate) {
  *duplicate = MPI_COMM_SELF;
  return MPI_SUCCESS;
}

int MPI_Comm_split_type(MPI_Comm, int, int, MPI_Info, MPI_Comm* split) {
  *split = MPI_COMM_SELF;
  return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm* comm) {
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm, int* rank) {
  *rank = 0;
  return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm, int* size) {
  *size = 1;
  return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm) { return MPI_SUCCESS; }

int MPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm) { return MPI_SUCCESS; }

int MPI_Exscan(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) { return MPI_SUCCESS; }

// Numbers of the engine are words, but for one flag.
static int copy(const void* from, void* to, int count, MPI_Datatype type) {
  const std::size_t bytes = type == MPI_INT ? sizeof(int) : 8;
  if (from != MPI_IN_PLACE) std::memcpy(to, from, static_cast<std::size_t>(count) * bytes);
  return MPI_SUCCESS;
}

int MPI_Allreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op, MPI_Comm) {
  return copy(mine, all, count, type);
}

int MPI_Gather(const void* mine, int count, MPI_Datatype type, void* all, int, MPI_Datatype, int,
               MPI_Comm) {
  return copy(mine, all, count, type);
}

}  // extern "C"

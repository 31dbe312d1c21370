// SPDX-License-Identifier: BSD-2-Clause
#include <mpi.h>
#include <stdlib.h>

#include <cstdio>
#include <cstdlib>

#include "mpi_main.h"

namespace anadrome::test {

std::string fresh_directory(const std::string& name, const char* above) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* base = above != nullptr ? above : std::getenv("ANADROME_TEST_DIRECTORY");
  if (base == nullptr || *base == '\0') base = "/tmp";
  char path[4096] = "";
  std::snprintf(path, sizeof path, "%s/%s.XXXXXX", base, name.c_str());
  if (rank == 0 && ::mkdtemp(path) == nullptr) {
    std::perror(path);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  return path;
}

}  // namespace anadrome::test

// SPDX-License-Identifier: BSD-2-Clause
// main() of a benchmark: MPI around it, and one line for whatever goes wrong. A benchmark that
// fails on one rank ends all of them: there is nothing to be saved.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace bench {

inline void check(anadrome_status status) {
  if (status == ANADROME_OK) return;
  throw std::runtime_error(std::string(anadrome_status_name(status)) + ": " +
                           anadrome_last_error());
}

template <class Body>
int guarded_main(int argc, char** argv, const Body& body) {
  int given = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace bench

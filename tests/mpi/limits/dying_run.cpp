// SPDX-License-Identifier: BSD-2-Clause
// A program that is killed in the middle of a sweep: what it leaves on disk is for others to find.
#include <anadrome/anadrome.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string directory = argv[1], layout = argv[2];
  MPI_Init(nullptr, nullptr);
  std::array<double, 1000> x{};
  anadrome_run* run = nullptr;
  anadrome_open(MPI_COMM_WORLD, &run);
  anadrome_set(run, "directory", directory.c_str());
  anadrome_set(run, "layout", layout.c_str());
  anadrome_set(run, "schedule", "async");
  anadrome_set(run, "interval", "1");
  anadrome_set(run, "memory", "40KiB");
  anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x.data(), x.size());
  anadrome_action action;
  if (anadrome_begin(run, 40) != ANADROME_OK) return 3;
  while (anadrome_next(run, &action) == ANADROME_OK) {
    if (action.kind == ANADROME_ADJOINT && action.first == 20) kill(getpid(), SIGKILL);
  }
  return 4;
}

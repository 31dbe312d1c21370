// SPDX-License-Identifier: BSD-2-Clause
#include "short_sweep.h"

#include <filesystem>
#include <string>

#include "mpi_main.h"

namespace anadrome::test {

ShortSweep::ShortSweep()
    : model_(MPI_COMM_WORLD, Counts{3, 1, 2, 5, 9}),
      reference_(model_, kSteps),
      memory_(2 * least_memory(model_, "async")) {}

RunHandle ShortSweep::prepared(const RunOptions& more) {
  const std::string memory = std::to_string(memory_) + "B";
  return {model_, {{"schedule", "async"}, {"interval", "1"}, {"memory", memory}}, more};
}

void ShortSweep::expect_exact_sweep(RunHandle& run) {
  SweepDriver driver(run, model_, reference_);
  driver.exact_sweep(kSteps);
}

void ShortSweep::expect_no_files() {
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(std::filesystem::is_empty(directory()));
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace anadrome::test

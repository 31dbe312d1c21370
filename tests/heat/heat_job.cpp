// SPDX-License-Identifier: BSD-2-Clause
#include "heat_job.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <tuple>

#include "every_stage.h"
#include "mpi_main.h"

namespace anadrome::test {
namespace {

// The bytes of the largest block's state, in whole pages: states may be stored page by page.
std::int64_t state_pages_bytes(MPI_Comm comm) {
  const heat_grid grid = heat_grid_of(comm, kCellsX, kCellsY);
  std::int64_t bytes = static_cast<std::int64_t>(heat_grid_cells(&grid) * sizeof(double));
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MAX, comm);
  return (bytes + 4095) / 4096 * 4096;
}

// Rank 0 alone, so that no exchange of rows and no sum over ranks can hide a mistake.
std::uint64_t serial_hash(const heat_options& options) {
  using Problem = std::tuple<std::int64_t, std::int64_t, std::int64_t, int, int>;
  static std::map<Problem, std::uint64_t> known;
  std::uint64_t& hash = known[{options.cells_x, options.cells_y, options.steps, options.integrator,
                               options.adaptive}];
  if (hash == 0 && rank() == 0) {
    heat_model* model =
        heat_model_create(MPI_COMM_SELF, options.cells_x, options.cells_y, 1, options.integrator);
    if (options.adaptive) heat_model_use_hot_spot(model);
    hash = gradient_of_every_stage(model, options.steps);
    heat_model_free(model);
  }
  MPI_Bcast(&hash, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return hash;
}

}  // namespace

Job::Job(MPI_Comm comm, const std::string& schedule) : options(heat_defaults), comm_(comm) {
  options.cells_x = kCellsX;
  options.cells_y = kCellsY;
  options.steps = kSteps;
  options.quiet = 1;
  const std::int64_t states = schedule == "store_all" ? kSteps + 4 : 6;
  set("schedule", schedule);
  set("memory", std::to_string(states * state_pages_bytes(comm) + 65536) + "B");
  set("directory", directory());
}

int Job::run() {
  for (const auto& [key, value] : values_)
    settings_add(&options.library, key.c_str(), value.c_str());
  return heat_run(comm_, &options, &result);
}

void expect_exact_gradient(const Job& job) {
  EXPECT_EQ(job.result.end.exit_code, EXAMPLE_FINE) << job.result.end.message;
  EXPECT_EQ(job.result.gradient_hash, serial_hash(job.options));
  EXPECT_LE(job.result.stats.peak_library_bytes, job.result.stats.memory_bytes);
}

void expect_exact_sweep(const Job& job) {
  const anadrome_stats& stats = job.result.stats;
  expect_exact_gradient(job);
  EXPECT_EQ(stats.steps, kSteps);
  EXPECT_EQ(stats.adjoint_steps_taken, kSteps);
  EXPECT_EQ(stats.forward_steps_taken, stats.forward_steps_planned);
  EXPECT_EQ(stats.forward_steps_remaining, 0);
}

const char* direct_io() {
  if (ANADROME_TEST_PORTABLE) return "auto";
  const char* set = std::getenv("ANADROME_TEST_DIRECTORY");
  std::string path = std::string(set != nullptr && *set != '\0' ? set : "/tmp") + "/direct-XXXXXX";
  const int file = mkostemp(path.data(), O_DIRECT);
  if (file < 0) return "auto";
  close(file);
  unlink(path.c_str());
  return "direct";
}

}  // namespace anadrome::test

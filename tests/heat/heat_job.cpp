#include "heat_job.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "heat_grid.h"
#include "mpi_main.h"

namespace anadrome::test {
namespace {

// Of the gradients computed on one rank, by integrator.
std::uint64_t serial_hash[2] = {0, 0};

// The bytes of the largest block's state, in whole pages: states may be stored page by page.
std::int64_t state_pages_bytes(MPI_Comm comm) {
  heat_grid grid;
  heat_grid_create(&grid, comm, kCellsX, kCellsY);
  std::int64_t bytes = static_cast<std::int64_t>(heat_grid_cells(&grid) * sizeof(double));
  heat_grid_free(&grid);
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MAX, comm);
  return (bytes + 4095) / 4096 * 4096;
}

// Rank 0 alone, so that no exchange of block edges and no sum over ranks can hide a mistake.
class SerialGradient : public testing::Environment {
  void SetUp() override {
    for (const heat_integrator integrator : {HEAT_EULER, HEAT_RK4}) {
      int exit_code = HEAT_FINE;
      std::string message;
      if (rank() == 0) {
        Job job(MPI_COMM_SELF, "store_all");
        job.options.integrator = integrator;
        exit_code = job.run();
        serial_hash[integrator] = job.result.gradient_hash;
        message = job.result.message;
      }
      MPI_Bcast(&exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD);
      MPI_Bcast(&serial_hash[integrator], 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
      ASSERT_EQ(exit_code, HEAT_FINE) << "the serial reference failed: " << message;
    }
  }
};
const testing::Environment* const serial_gradient =
    testing::AddGlobalTestEnvironment(new SerialGradient);

}  // namespace

Job::Job(MPI_Comm comm, const std::string& schedule) : comm_(comm) {
  heat_options_init(&options);
  options.cells_x = kCellsX;
  options.cells_y = kCellsY;
  options.steps = kSteps;
  options.quiet = 1;
  options.verify = 1;
  const std::int64_t states = schedule == "store_all" ? kSteps + 4 : 6;
  set("schedule", schedule);
  const std::int64_t plan = schedule == "overlapped" ? (kSteps + 2) * 9 * 1024 : 0;
  set("memory", std::to_string(states * state_pages_bytes(comm) + 65536 + plan) + "B");
  set("directory", directory());
}

int Job::run() {
  for (const auto& [key, value] : values_) heat_options_set(&options, key.c_str(), value.c_str());
  return heat_run(comm_, &options, &result);
}

void expect_exact_gradient(const Job& job) {
  const heat_result& result = job.result;
  EXPECT_EQ(result.exit_code, HEAT_FINE) << result.message;
  EXPECT_EQ(result.verified, 1);
  EXPECT_EQ(result.gradient_hash, serial_hash[job.options.integrator]);
  EXPECT_EQ(result.stats.steps, kSteps);
  EXPECT_EQ(result.stats.adjoint_steps_taken, kSteps);
  EXPECT_EQ(result.stats.forward_steps_taken, result.stats.forward_steps_planned);
  EXPECT_EQ(result.stats.forward_steps_remaining, 0);
  EXPECT_LE(result.stats.peak_library_bytes, result.stats.memory_bytes);
}

const char* direct_io() {
  const char* set = std::getenv("ANADROME_TEST_DIRECTORY");
  std::string path = std::string(set != nullptr && *set != '\0' ? set : "/tmp") + "/direct-XXXXXX";
  const int file = mkostemp(path.data(), O_DIRECT);
  if (file < 0) return "auto";
  close(file);
  unlink(path.c_str());
  return "on";
}

}  // namespace anadrome::test

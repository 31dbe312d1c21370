// SPDX-License-Identifier: BSD-2-Clause
// The scheme for Enzyme's loops under a driver: the gradient is the one with every state kept.
#include <anadrome/enzyme.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "driver.h"
#include "mpi_main.h"

namespace {

using namespace anadrome::test;

constexpr std::size_t kSize = 3000;

std::vector<double> every_state_kept(std::int64_t steps, std::size_t size = kSize) {
  Model model(size);
  std::vector<std::vector<double>> states;
  for (std::int64_t i = 0; i < steps; ++i) {
    states.push_back(model.u);
    model.step(i);
  }
  model.adjoint = model.u;
  for (std::int64_t i = steps; i-- > 0;) {
    model.u = states[static_cast<std::size_t>(i)];
    model.reverse(i);
  }
  return model.adjoint;
}

struct Case {
  const char* options;
  bool unknown = false;  ///< also for an unknown number of steps
};

class Scheme : public testing::TestWithParam<Case> {};

TEST_P(Scheme, GivesTheGradientWithEveryStateKept) {
  const std::string options = std::string(GetParam().options) + " directory=" + directory();
  for (const std::int64_t steps : {0, 1, 2, 3, 17, 60}) {
    for (const bool known : {true, false}) {
      if (!known && (!GetParam().unknown || steps == 0)) continue;
      SCOPED_TRACE(testing::Message() << steps << (known ? " steps" : " steps, unknown"));
      anadrome_enzyme_data data = {sizeof data, MPI_COMM_WORLD, options.c_str()};
      Model model(kSize);
      Driver driver(*anadrome_enzyme_scheme(), model);
      driver.run(&data, steps, known);
      EXPECT_EQ(driver.faults(), 0);
      EXPECT_EQ(model.turns, steps);
      EXPECT_EQ(model.adjoint, every_state_kept(steps));
      MPI_Barrier(MPI_COMM_WORLD);
      EXPECT_TRUE(std::filesystem::is_empty(directory()));
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Scheme,
    testing::Values(Case{"memory=300KiB", true},
                    Case{"memory=300KiB schedule=online slots=5", true},
                    Case{"memory=300KiB schedule=store_all slots=60", true},
                    Case{"memory=400KiB schedule=async slots=8 interval=4", true},
                    Case{"memory=400KiB schedule=double slots=10 interval=5", true},
                    Case{"memory=400KiB schedule=disk_revolve slots=3 write=1 read=1"},
                    Case{"memory=400KiB schedule=hrevolve slots=3 disk_slots=4 write=1 read=1"},
                    Case{"memory=2MiB slots=4"}),
    [](const auto& drawn) { return "case" + std::to_string(drawn.index); });

TEST(Scheme, FillsTheMemoryWithSnapshotsAndNoMore) {
  // 24 KiB and a counter: 300 KiB hold 12, of which 2 are the driver's and one is left over.
  const std::string options = "memory=300KiB directory=" + directory();
  anadrome_enzyme_data data = {sizeof data, MPI_COMM_WORLD, options.c_str()};
  Model model(kSize);
  Driver driver(*anadrome_enzyme_scheme(), model);
  driver.run(&data, 60, true);
  // Revolve with 9 and 10 slots: n = 60 lies within two repetitions, r n - C(s + r, s + 1).
  EXPECT_GE(driver.forward_steps(), 2 * 60 - 12 - 60);
  EXPECT_LE(driver.forward_steps(), 2 * 60);
}

TEST(Scheme, IsTheSameOnRanksWhoseSnapshotsDiffer) {
  const std::size_t size = rank() == 0 ? kSize : kSize / 4;
  const std::string options = "memory=300KiB directory=" + directory();
  anadrome_enzyme_data data = {sizeof data, MPI_COMM_WORLD, options.c_str()};
  Model model(size);
  Driver driver(*anadrome_enzyme_scheme(), model);
  driver.run(&data, 60, true);
  EXPECT_EQ(driver.faults(), 0);
  EXPECT_EQ(model.adjoint, every_state_kept(60, size));
  std::int64_t least = driver.forward_steps(), most = least;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(least, most);
}

}  // namespace

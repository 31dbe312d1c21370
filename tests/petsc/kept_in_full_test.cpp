// SPDX-License-Identifier: BSD-2-Clause
// Where nobody says how, records are kept in full until memory is used up.
#include <gtest/gtest.h>
#include <petsc/private/tsimpl.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "mpi_main.h"
#include "oscillators.h"

namespace {

using namespace anadrome::test;

const std::string basic = " -ts_trajectory_type basic";

// Their states are larger than others'.
class KeptInFull : public testing::TestWithParam<Method> {
 protected:
  void SetUp() override { Oscillators::pairs = 300; }
  void TearDown() override { Oscillators::pairs = 3; }

  /// Gradients, one after the other: on the way back in pieces, and a record in between.
  static std::vector<double> gradients(Oscillators& model) {
    std::vector<double> all;
    for (int i = 0; i < 3; ++i) {
      model.start();
      EXPECT_EQ(model.solve(1), 0);
      VecScale(model.solution(), 0.95);
      EXPECT_EQ(model.solve(2), 0);
      const PetscInt steps = model.steps();
      model.turn();
      EXPECT_EQ(model.back(3), 0);
      append(all, model.record(steps - 3));
      EXPECT_EQ(model.back(), 0);
      append(all, model.values());
    }
    return all;
  }
};

TEST_P(KeptInFull, WithMemoryToSpareNoStepIsRunAgain) {
  Oscillators expected(GetParam().options + basic);
  Oscillators model(GetParam().options + " -ts_trajectory_type anadrome");
  EXPECT_EQ(difference(gradients(expected), gradients(model)), 0);
  EXPECT_EQ(model.trajectory()->recomps, 0);
}

// Calls of PETSc's TSStep so far.
int steps_taken() {
  PetscLogEvent event = -1;
  PetscEventPerfInfo info{};
  EXPECT_EQ(PetscLogEventGetId("TSStep", &event), 0);
  EXPECT_EQ(PetscLogEventGetPerfInfo(0, event, &info), 0);
  return info.count;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_P(KeptInFull, ThinnedOutWhenMemoryIsUsedUp) {
  Oscillators expected(GetParam().options + basic);
  const std::vector<double> all = gradients(expected);
  for (const std::string memory :
       {"450KiB", "600KiB", "800KiB -ts_trajectory_anadrome_progress on"}) {
    Oscillators model(GetParam().options +
                      " -ts_trajectory_type anadrome -ts_trajectory_anadrome_set_aside 300KiB "
                      "-ts_trajectory_anadrome_memory " +
                      memory);
    EXPECT_EQ(difference(all, gradients(model)), 0) << memory;
    EXPECT_TRUE(ranks() > 1 || model.trajectory()->recomps > 0) << memory;
  }
}

INSTANTIATE_TEST_SUITE_P(All, KeptInFull, testing::ValuesIn(methods()),
                         [](const auto& tested) { return tested.param.name; });

using ReportedInFull = KeptInFull;

TEST_P(ReportedInFull, NoStepIsRunAgain) {
  EXPECT_EQ(PetscLogDefaultBegin(), 0);
  const std::string anadrome = " -ts_trajectory_type anadrome ";
  const auto run = [&](const std::string& options) {
    Oscillators model(GetParam().options + anadrome + options);
    const int before = steps_taken();
    return std::pair(gradients(model), steps_taken() - before);
  };
  const auto expected = run("");
  for (const std::string key :
       {"report kept.txt", "report -", "progress on", "trace kept.json", "watchdog 60",
        "trace kept.json -ts_trajectory_anadrome_progress on"}) {
    SCOPED_TRACE(key);
    const auto [gradient, steps] = run("-ts_trajectory_anadrome_" + key);
    EXPECT_EQ(difference(gradient, expected.first), 0);
    EXPECT_EQ(steps, expected.second);
  }
  setenv("ANADROME_OPTIONS", "report=kept.txt progress=on", 1);
  EXPECT_EQ(run("").second, expected.second);
  unsetenv("ANADROME_OPTIONS");
  if (rank() == 0) {
    EXPECT_NE(text_of("kept.txt").find("\n0 steps run again"), std::string::npos);
    const std::string trace = text_of("kept.json");
    EXPECT_NE(trace.find("adjoint"), std::string::npos) << "the reverse sweep is not in it";
    std::remove("kept.txt");
    std::remove("kept.json");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

INSTANTIATE_TEST_SUITE_P(Two, ReportedInFull,
                         testing::Values(Method{"rk5dp", "-ts_type rk -ts_rk_type 5dp"},
                                         Method{"cn", "-ts_type cn"}),
                         [](const auto& tested) { return tested.param.name; });

TEST(TooLittleMemory, IsRefusedWithTheLeastThatIsEnough) {
  const auto solved = [](const std::string& options) {
    const CaughtErrors caught;
    Oscillators model(
        "-ts_type cn -ts_trajectory_type anadrome -ts_trajectory_anadrome_schedule async " +
        options);
    const PetscErrorCode code = model.solve(1);
    return std::pair(code, CaughtErrors::message());
  };
  const std::string memory = "-ts_trajectory_anadrome_memory ";
  for (const std::string aside : {"", " -ts_trajectory_anadrome_set_aside 40KiB"}) {
    const auto [code, message] = solved(memory + "1KiB" + aside);
    EXPECT_EQ(code, PETSC_ERR_MEM);
    const std::size_t at = message.find("it must be at least ");
    ASSERT_NE(at, std::string::npos) << message;
    const long least = std::stol(message.substr(at + 20));
    EXPECT_EQ(solved(memory + std::to_string(least) + "B" + aside).first, 0) << message;
    EXPECT_NE(solved(memory + std::to_string(least * 3 / 4) + "B" + aside).first, 0) << message;
  }
}

}  // namespace

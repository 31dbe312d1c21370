// SPDX-License-Identifier: BSD-2-Clause
// Where nobody says how, records are kept in full until memory is used up.
#include <gtest/gtest.h>
#include <petsc/private/tsimpl.h>

#include <string>
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

TEST_P(KeptInFull, ThinnedOutWhenMemoryIsUsedUp) {
  Oscillators expected(GetParam().options + basic);
  const std::vector<double> all = gradients(expected);
  for (const std::string memory : {"450KiB", "600KiB"}) {
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

}  // namespace

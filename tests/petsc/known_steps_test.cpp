// SPDX-License-Identifier: BSD-2-Clause
// A TS whose number of steps is said beforehand: every schedule, the same bits as with `basic`.
#include <gtest/gtest.h>
#include <petsc/private/tsimpl.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "oscillators.h"

namespace {

using namespace anadrome::test;

const std::string anadrome =
    " -ts_trajectory_type anadrome -ts_trajectory_anadrome_memory 8MiB "
    "-ts_trajectory_anadrome_checkpoints 4 ";

std::string steps_are(PetscInt steps) {
  return " -ts_trajectory_anadrome_steps " + std::to_string(steps);
}

// Gradients of two TSSolve together, three times: some schedules plan from what they measured. Then
// a forward sweep that is given up, the reverse sweep in pieces, and, if `twice`, once more all the
// way.
std::vector<double> optimise(Oscillators& model, bool twice = true) {
  std::vector<double> all;
  for (int i = 0; i < 3; ++i) {
    model.stiffness = 2 + 0.5 * i;
    model.start();
    EXPECT_EQ(model.solve(1), 0);
    VecScale(model.solution(), 0.9);
    EXPECT_EQ(model.solve(2), 0);
    append(all, model.adjoint());
  }
  model.start();
  EXPECT_EQ(model.solve(1), 0);
  model.start();
  EXPECT_EQ(model.solve(2), 0);
  const PetscInt steps = model.steps();
  model.turn();
  for (const PetscInt pieces : {1, 5, 2}) EXPECT_EQ(model.back(pieces), 0);
  EXPECT_EQ(model.back(), 0);
  append(all, model.values());
  if (!twice) return all;
  model.go_to(steps);
  append(all, model.adjoint());
  return all;
}

using Case = std::tuple<Method, std::string>;

class KnownSteps : public testing::TestWithParam<Case> {};

TEST_P(KnownSteps, GiveTheGradient) {
  const auto& [method, schedule] = GetParam();
  static std::map<std::string, std::pair<PetscInt, std::vector<double>>> expected;
  const auto [at, first] = expected.try_emplace(method.name);
  if (first) {
    Oscillators model(method.options + " -ts_trajectory_type basic");
    at->second.second = optimise(model);
    model.start();
    EXPECT_EQ(model.solve(2), 0);
    at->second.first = model.steps();
  }
  const auto& [steps, values] = at->second;
  ASSERT_GT(steps, 10);
  const bool mixed = schedule == "mixed";  // of states and tapes; does not hold x_0 to the end
  for (const std::string more : {"", " -ts_trajectory_solution_only"}) {
    if (mixed && !more.empty()) continue;
    Oscillators model(method.options + anadrome + "-ts_trajectory_anadrome_schedule " + schedule +
                      steps_are(steps) + more);
    const std::vector<double> found = optimise(model, !mixed);
    const auto compared = static_cast<std::ptrdiff_t>(found.size());
    EXPECT_EQ(difference({values.begin(), values.begin() + compared}, found), 0) << more;
    if (schedule != "store_all" && schedule != "auto") {  // all states fit
      EXPECT_GT(model.trajectory()->recomps, 0);
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Method& method : methods()) {
    if (method.name != "rk4" && method.name != "cn") continue;
    for (const char* schedule : {"store_all", "revolve", "async", "auto", "mixed"}) {
      all.emplace_back(method, schedule);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, KnownSteps, testing::ValuesIn(cases()), [](const auto& tested) {
  return std::get<0>(tested.param).name + "_" + std::get<1>(tested.param);
});

TEST(KnownSteps, OtherNumbersAreErrors) {
  const std::string rk4 = "-ts_type rk -ts_rk_type 4 -ts_adapt_type none";
  Oscillators basic(rk4 + " -ts_trajectory_type basic");
  EXPECT_EQ(basic.solve(2), 0);
  const PetscInt steps = basic.steps();
  for (const PetscInt said : {steps - 1, steps + 1}) {
    const CaughtErrors caught;
    Oscillators model(rk4 + anadrome + steps_are(said));
    PetscErrorCode code = model.solve(2);
    if (said > steps) {
      EXPECT_EQ(code, 0);
      model.turn();
      code = model.back();
    }
    EXPECT_NE(code, 0);
    const std::string expected = "-ts_trajectory_anadrome_steps is " + std::to_string(said) +
                                 ", and the solver " +
                                 (said < steps ? "takes more" : "took " + std::to_string(steps));
    EXPECT_NE(caught.message().find(expected), std::string::npos) << caught.message();
  }
}

}  // namespace

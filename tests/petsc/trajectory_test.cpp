// SPDX-License-Identifier: BSD-2-Clause
// The uses of a trajectory in programs, with every method that has an adjoint and every way to keep
// records: the same as with PETSc's own `basic`. One file, though long: its tests
// share the cases.
#include <anadrome/petsc.h>
#include <gtest/gtest.h>
#include <petsc/private/tsimpl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "mpi_main.h"
#include "oscillators.h"

// In no header of PETSc 3.18.
extern "C" PetscErrorCode TSTrajectorySetMaxCpsRAM(TSTrajectory, PetscInt);

namespace {

using namespace anadrome::test;

class Petsc : public testing::Environment {
  void SetUp() override {
    ASSERT_EQ(chdir(directory().c_str()), 0);
    ASSERT_EQ(PetscInitializeNoArguments(), 0);
    ASSERT_EQ(AnadromePetscRegister(), 0);
    ASSERT_EQ(AnadromePetscRegister(), 0);
  }
  void TearDown() override { PetscFinalize(); }
};
[[maybe_unused]] const testing::Environment* petsc = testing::AddGlobalTestEnvironment(new Petsc);

const std::string basic = " -ts_trajectory_type basic";

using Case = std::tuple<Method, Keeping>;

class Programs : public testing::TestWithParam<Case> {
 protected:
  using Program = std::function<std::vector<double>(Oscillators&)>;

  static void expect_same_as_basic(const Program& program) {
    const auto& [method, keeping] = GetParam();
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    const auto [at, first] = expected_.try_emplace(name.substr(0, name.find('/')) + method.name);
    if (first) {  // `basic` takes its time
      Oscillators model(method.options + basic);
      at->second = program(model);
    }
    Oscillators model(method.options + " " + keeping.options);
    const std::vector<double> found = program(model);
    EXPECT_EQ(difference(at->second, found), 0);
    EXPECT_FALSE(found.empty() && rank() == 0);
  }

 private:
  static inline std::map<std::string, std::vector<double>> expected_;
};

std::vector<double> gradient(Oscillators& model, PetscReal until = 2) {
  model.start();
  EXPECT_EQ(model.solve(until), 0);
  return model.adjoint();
}

TEST_P(Programs, GoBackInPieces) {
  expect_same_as_basic([](Oscillators& model) {
    EXPECT_EQ(model.solve(2), 0);
    model.turn();
    for (const PetscInt steps : {1, 7, 2}) EXPECT_EQ(model.back(steps), 0);
    EXPECT_EQ(model.back(), 0);
    return model.values();
  });
}

TEST_P(Programs, OptimiseWithOneTrajectory) {
  expect_same_as_basic([](Oscillators& model) {
    std::vector<double> all;
    for (int i = 0; i < 5; ++i) {
      model.stiffness = 2 + 0.3 * i;
      append(all, gradient(model, 1 + 0.25 * i));
      if (i == 2) {  // a line search drops a forward sweep
        model.start();
        EXPECT_EQ(model.solve(1.7), 0);
      }
    }
    return all;
  });
}

TEST_P(Programs, LookAtRecordsInAnyOrderAndTwice) {
  expect_same_as_basic([](Oscillators& model) {
    EXPECT_EQ(model.solve(1), 0);
    std::vector<PetscInt> order(static_cast<std::size_t>(model.steps()) + 1);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    order.resize(std::min<std::size_t>(order.size(), 12));
    order.insert(order.end(), {order.back(), 0, 0, order.front()});
    std::vector<double> all;
    for (const PetscInt step : order) append(all, model.record(step));
    return all;
  });
}

TEST_P(Programs, GoBackTwice) {
  expect_same_as_basic([](Oscillators& model) {
    std::vector<double> all;
    EXPECT_EQ(model.solve(2), 0);
    const PetscInt steps = model.steps();
    for (int i = 0; i < 2; ++i) {
      model.go_to(steps);
      append(all, model.adjoint());
    }
    return all;
  });
}

TEST_P(Programs, GoOnFromAnotherSolution) {
  expect_same_as_basic([](Oscillators& model) {
    EXPECT_EQ(model.solve(1), 0);
    VecScale(model.solution(), 0.9);
    EXPECT_EQ(model.solve(2), 0);
    VecScale(model.solution(), 1.05);
    EXPECT_EQ(model.solve(2.5), 0);
    return model.adjoint();
  });
}

// PostStep ends TSSolve after the record was made: the trajectory sees no end.
TEST_P(Programs, SetTheClockBackAfterAStep) {
  expect_same_as_basic([](Oscillators& model) {
    model.after_step = [&model](Vec) {
      if (model.steps() == 7) TSSetConvergedReason(model.ts(), TS_CONVERGED_USER);
    };
    EXPECT_EQ(model.solve(1), 0);
    EXPECT_EQ(model.steps(), 7);
    EXPECT_EQ(TSSetTime(model.ts(), 0), 0);
    EXPECT_EQ(model.solve(1), 0);
    return model.adjoint();
  });
}

TEST_P(Programs, SwitchTheRightHandSideAndBack) {
  expect_same_as_basic([](Oscillators& model) {
    EXPECT_EQ(model.solve(1), 0);
    const PetscInt first = model.steps();
    model.stiffness = 1;
    EXPECT_EQ(model.solve(2), 0);
    model.turn();
    EXPECT_EQ(model.back(model.steps() - first), 0);
    model.stiffness = 3;
    EXPECT_EQ(model.back(), 0);
    return model.values();
  });
}

TEST_P(Programs, GoForwardAgainFromTheMiddle) {
  expect_same_as_basic([](Oscillators& model) {
    EXPECT_EQ(model.solve(1), 0);
    const PetscInt steps = model.steps();
    model.turn();
    EXPECT_EQ(model.back(3), 0);
    (void)model.record(steps - 3);
    VecScale(model.solution(), 1.01);
    EXPECT_EQ(TSSetTimeStep(model.ts(), 0.05), 0);
    EXPECT_EQ(TSRestartStep(model.ts()), 0);
    EXPECT_EQ(model.solve(1.2), 0);
    return model.adjoint();
  });
}

// Of positions (0) or velocities (1).
PetscScalar sum_of(Vec u, PetscInt which) {
  const PetscScalar* x = nullptr;
  PetscScalar sum = 0;
  PetscInt local = 0;
  EXPECT_EQ(VecGetLocalSize(u, &local), 0);
  EXPECT_EQ(VecGetArrayRead(u, &x), 0);
  for (PetscInt i = which; i < local; i += 2) sum += x[i];
  EXPECT_EQ(VecRestoreArrayRead(u, &x), 0);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD);
  return sum;
}

// The integral of all velocities is what the positions gained, in whatever method steps them. Not
// in PETSc, as the page says, with theta=1 in the reverse sweep: it takes the last velocities in
// each step; and with Runge-Kutta in the forward sweep: what it takes off the integral for a step
// that it refuses was not in it.
std::vector<double> integral(Oscillators& model, PetscBool forward, bool right) {
  const auto rate = [](TS, PetscReal, Vec u, Vec to, void*) { return VecSet(to, sum_of(u, 1)); };
  model.integrate(forward, {rate, nullptr, 1, 2, 1});
  const PetscScalar before = sum_of(model.solution(), 0);
  EXPECT_EQ(model.solve(2), 0);
  const PetscScalar gained = sum_of(model.solution(), 0) - before;
  (void)model.record(model.steps() / 2);
  (void)model.record(model.steps());
  std::vector<double> all = model.adjoint();
  Vec value = nullptr;
  PetscScalar sum = 0;
  PetscInt size = 0;
  EXPECT_EQ(TSGetCostIntegral(model.ts(), &value), 0);
  EXPECT_EQ(VecSum(value, &sum), 0);
  EXPECT_EQ(VecGetSize(value, &size), 0);
  EXPECT_EQ(size, 1);
  EXPECT_EQ(PetscAbsScalar(sum - gained) < 1e-6 * PetscAbsScalar(gained), right);
  append(all, {PetscRealPart(sum), PetscImaginaryPart(sum)});
  return all;
}

TEST_P(Programs, IntegrateInTheForwardSweep) {
  const std::string name = std::get<Method>(GetParam()).name;
  const bool right = !(name.starts_with("rk") && name.ends_with("_adaptive"));
  expect_same_as_basic([&](Oscillators& model) { return integral(model, PETSC_TRUE, right); });
}

TEST_P(Programs, IntegrateInTheReverseSweep) {
  const bool right = std::get<Method>(GetParam()).name != "beuler";
  expect_same_as_basic([&](Oscillators& model) { return integral(model, PETSC_FALSE, right); });
}

// Every way with three methods and every method with two ways; all of them where it is asked for.
std::vector<Case> cases(const std::set<std::string>& names = {}) {
  const bool full = std::getenv("ANADROME_TEST_FULL") != nullptr;
  const std::set<std::string> every_way = {"rk4", "rk5dp_adaptive", "cn"};
  const std::set<std::string> every_method = {"few", "disk_and_few"};
  std::vector<Case> all;
  for (const Method& method : methods()) {
    if (!names.empty() && names.count(method.name) == 0) continue;
    for (const Keeping& keeping : keepings()) {
      if (full || every_way.count(method.name) > 0 || every_method.count(keeping.name) > 0)
        all.emplace_back(method, keeping);
    }
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Case>& tested) {
  return std::get<0>(tested.param).name + "_" + std::get<1>(tested.param).name;
}

INSTANTIATE_TEST_SUITE_P(All, Programs, testing::ValuesIn(cases()), name_of);

class FirstSameAsLast : public Programs {};

// The slope that the method remembers is not that of a record which was looked at.
TEST_P(FirstSameAsLast, GoesOnFromTheEndAfterTheReverseSweep) {
  expect_same_as_basic([](Oscillators& model) {
    EXPECT_EQ(model.solve(1), 0);
    const PetscInt steps = model.steps();
    Vec end = nullptr;
    EXPECT_EQ(VecDuplicate(model.solution(), &end), 0);
    EXPECT_EQ(VecCopy(model.solution(), end), 0);
    (void)model.adjoint();
    EXPECT_EQ(VecCopy(end, model.solution()), 0);
    EXPECT_EQ(VecDestroy(&end), 0);
    EXPECT_EQ(TSSetStepNumber(model.ts(), steps), 0);
    EXPECT_EQ(TSSetTime(model.ts(), 1), 0);
    EXPECT_EQ(TSSetTimeStep(model.ts(), 0.05), 0);
    EXPECT_EQ(model.solve(1.5), 0);
    return model.values();
  });
}

INSTANTIATE_TEST_SUITE_P(All, FirstSameAsLast,
                         testing::ValuesIn(cases({"rk3bs_adaptive", "rk5dp_adaptive"})), name_of);

class SecondOrder : public testing::TestWithParam<Case> {};

// With finite differences: `basic` gives wrong second-order adjoints for stiffly accurate methods.
TEST_P(SecondOrder, AdjointIsTheDerivativeOfTheGradient) {
  const auto& [method, keeping] = GetParam();
  Oscillators model(method.options + " " + keeping.options, false);
  const std::vector<double> product = model.hessian_product(1);
  constexpr double kStep = 1e-5;
  const auto gradient_at = [&](double along) {
    model.start(along);
    EXPECT_EQ(model.solve(1), 0);
    std::vector<double> values = model.adjoint();
    values.resize(product.size());
    return values;
  };
  std::vector<double> expected = gradient_at(kStep);
  const std::vector<double> below = gradient_at(-kStep);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = (expected[i] - below[i]) / (2 * kStep);
  }
  EXPECT_LE(difference(expected, product), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, SecondOrder, testing::ValuesIn(cases({"rk4", "cn", "beuler"})),
                         name_of);

const std::string recompute =
    " -ts_trajectory_type anadrome -ts_trajectory_anadrome_memory 4MiB -ts_trajectory_max_cps_ram "
    "4";
const std::string store_all =
    " -ts_trajectory_type anadrome -ts_trajectory_anadrome_schedule store_all";

// Runs `program` until PETSc reports an error; what it says.
std::string refusal(const std::string& options,
                    const std::function<PetscErrorCode(Oscillators&)>& program) {
  const CaughtErrors caught;
  Oscillators model(options);
  EXPECT_NE(program(model), 0);
  return CaughtErrors::message();
}

TEST(Trajectory, RefusesARecordThatWasNeverMade) {
  const std::string said =
      refusal("-ts_trajectory_type anadrome", [](Oscillators& model) -> PetscErrorCode {
        EXPECT_EQ(model.solve(1), 0);
        PetscReal time = 0;
        return TSTrajectoryGet(model.trajectory(), model.ts(), model.steps() + 1, &time);
      });
  EXPECT_NE(said.find("there is no record of step"), std::string::npos) << said;
}

// Runge-Kutta methods leave rounding behind when they take a step back: see that they do.
#if !PETSC_VERSION_LT(3, 21, 0)
TEST(Trajectory, RefusesADiscretisationThatChangesItsSize) {
  const auto at_step_7 = [](TS, PetscInt step, PetscReal, Vec, PetscBool* resize, void*) {
    *resize = step == 7 ? PETSC_TRUE : PETSC_FALSE;
    return PETSC_SUCCESS;
  };
  const auto to_twice_the_size = [](TS, PetscInt count, Vec* from, Vec* to, void*) {
    for (PetscInt i = 0; i < count; ++i) {
      PetscInt local = 0;
      PetscCall(VecGetLocalSize(from[i], &local));
      PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 2 * local, PETSC_DETERMINE, &to[i]));
      PetscCall(VecSet(to[i], 0.5));
    }
    return PETSC_SUCCESS;
  };
  for (const std::string& kept :
       {store_all, recompute, std::string(" -ts_trajectory_type anadrome")}) {
    const std::string said = refusal("-ts_type rk -ts_rk_type 4" + kept, [&](Oscillators& model) {
      EXPECT_EQ(TSSetResize(model.ts(), PETSC_FALSE, at_step_7, to_twice_the_size, nullptr), 0);
      return model.solve(2);
    });
    EXPECT_NE(said.find("keeps states of one size"), std::string::npos) << said;
  }
}
#endif

TEST(Trajectory, AdaptiveMethodsRefuseSteps) {
  for (const Method& method : methods()) {
    Oscillators model(method.options + recompute);
    EXPECT_EQ(model.solve(2), 0);
    PetscInt refused = 0;
    EXPECT_EQ(TSGetStepRejections(model.ts(), &refused), 0);
    EXPECT_EQ(refused > 0, method.name.find("adaptive") != std::string::npos) << method.name;
  }
}

// They have the step function and the controller of the TS, and not what is composed with it.
TEST(Trajectory, LeavesClonesAlone) {
  Oscillators expected("-ts_type rk -ts_rk_type 3bs" + basic);
  const std::vector<double> all = gradient(expected);
  Oscillators model("-ts_type rk -ts_rk_type 3bs" + recompute);
  EXPECT_EQ(model.solve(2), 0);
  TS clone = nullptr;
  Vec u = nullptr;
  EXPECT_EQ(TSClone(model.ts(), &clone), 0);
  EXPECT_EQ(VecDuplicate(model.solution(), &u), 0);
  EXPECT_EQ(VecSet(u, 1), 0);
  EXPECT_EQ(TSSetSolution(clone, u), 0);
  EXPECT_EQ(TSSetTime(clone, 0), 0);
  EXPECT_EQ(TSSetTimeStep(clone, 0.05), 0);
  EXPECT_EQ(TSSetMaxTime(clone, 1), 0);
  EXPECT_EQ(TSSetExactFinalTime(clone, TS_EXACTFINALTIME_STEPOVER), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(TSStep(clone), 0);
  EXPECT_EQ(TSDestroy(&clone), 0);
  EXPECT_EQ(VecDestroy(&u), 0);
  SNES snes = nullptr;  // the clone had it, too
  EXPECT_EQ(TSGetSNES(model.ts(), &snes), 0);
  EXPECT_EQ(TSSetSNES(model.ts(), snes), 0);
  (void)model.adjoint();
  EXPECT_EQ(difference(all, model.values()), 0);
}

TEST(Trajectory, CanChangeItsTypeAtAnyTime) {
  for (const bool solved : {false, true}) {
    Oscillators model("-ts_type cn" + recompute);
    if (solved) (void)gradient(model, 1);
    EXPECT_EQ(TSTrajectorySetType(model.trajectory(), model.ts(), TSTRAJECTORYMEMORY), 0);
    EXPECT_EQ(TSTrajectorySetType(model.trajectory(), model.ts(), TSTRAJECTORYANADROME), 0);
    (void)gradient(model, 1);
  }
}

TEST(Trajectory, ProgramsSetLimitsByFunctions) {
  Oscillators model("-ts_type rk -ts_rk_type 4 -ts_adapt_type none -ts_trajectory_type anadrome");
  EXPECT_EQ(TSTrajectorySetMaxCpsRAM(model.trajectory(), 4), 0);
  (void)gradient(model);
  EXPECT_GT(model.trajectory()->recomps, 40);
}

TEST(Trajectory, RandomAccessDoesNotConsume) {
  Oscillators model("-ts_type cn -ts_trajectory_type anadrome -ts_trajectory_adjointmode 0");
  EXPECT_EQ(model.solve(1), 0);
  const std::vector<double> record = model.record(5);
  (void)model.record(2);
  (void)model.record(9);
  EXPECT_EQ(difference(record, model.record(5)), 0);
  EXPECT_EQ(model.trajectory()->recomps, 0);
}

TEST(Trajectory, MayOutliveItsSolver) {
  const CaughtErrors caught;
  TSTrajectory trajectory = nullptr;
  PetscReal time = 0;
  {
    Oscillators model("-ts_type cn" + recompute);
    EXPECT_EQ(model.solve(1), 0);
    trajectory = model.trajectory();
    EXPECT_EQ(PetscObjectReference(reinterpret_cast<PetscObject>(trajectory)), 0);
  }
  Oscillators other("-ts_type cn" + basic);
  EXPECT_EQ(other.solve(1), 0);
  const PetscInt last = other.steps();
  EXPECT_EQ(TSTrajectoryGet(trajectory, other.ts(), last, &time), 0);  // kept in full
  EXPECT_NE(TSTrajectoryGet(trajectory, other.ts(), 5, &time), 0);
  EXPECT_NE(caught.message().find("the TS that ran the steps was destroyed"), std::string::npos)
      << caught.message();
  EXPECT_EQ(TSTrajectoryDestroy(&trajectory), 0);
}

TEST(Trajectory, NeedsTheSolutionOfItsSolver) {
  const CaughtErrors caught;
  Oscillators model("-ts_type cn" + recompute);
  EXPECT_EQ(model.solve(1), 0);
  EXPECT_EQ(TSReset(model.ts()), 0);
  PetscReal time = 0;
  EXPECT_NE(TSTrajectoryGet(model.trajectory(), model.ts(), 5, &time), 0);
  EXPECT_NE(caught.message().find("has no solution"), std::string::npos) << caught.message();
}

// With -ts_trajectory_type basic it depends on what the last step of the solution needed.
TEST(Trajectory, LagsDoNotReachTheAdjoint) {
  const std::string cn = "-ts_type cn -snes_rtol 1e-12 -ksp_rtol 1e-12 -snes_max_it 200 ";
  Oscillators exact(cn + basic);
  const std::vector<double> expected = gradient(exact);
  for (const std::string& kept : {store_all, recompute}) {
    for (const std::string lag :
         {"-snes_lag_jacobian 2 ", "-snes_lag_jacobian 3 ", "-snes_lag_preconditioner 2 ",
          "-snes_lag_preconditioner 3 -snes_lag_jacobian 2 "}) {
      Oscillators model(cn + lag + kept);
      EXPECT_LE(difference(expected, gradient(model)), 1e-8) << lag << kept;
    }
  }
}

}  // namespace

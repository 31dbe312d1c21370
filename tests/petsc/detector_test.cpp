// SPDX-License-Identifier: BSD-2-Clause
// A program whose steps cannot be run again gets an error, and never a wrong record.
#include <anadrome/petsc.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "mpi_main.h"
#include "oscillators.h"

namespace {

using namespace anadrome::test;

const std::string rk4 = "-ts_type rk -ts_rk_type 4 -ts_adapt_type none ";

const std::string anadrome_type =
    "-ts_trajectory_type anadrome -ts_trajectory_anadrome_memory 4MiB ";
const std::string few = "-ts_trajectory_max_cps_ram 4";

// Between checkpoints 20 steps apart all records are kept, those of steps that were refused too.
TEST(Detector, WhatFollowsARefusalIsRefusedToo) {
  const auto solve = [](Oscillators& model) {
    int step = 0;
    model.after_step = [&step](Vec u) { VecScale(u, ++step == 5 ? 0.999 : 1); };
    EXPECT_EQ(model.solve(2), 0);
  };
  Oscillators basic(rk4 + "-ts_trajectory_type basic");
  solve(basic);
  const CaughtErrors caught;
  Oscillators model(rk4 + anadrome_type + "-ts_trajectory_stride 20");
  solve(model);
  model.turn();
  EXPECT_NE(model.back(), 0);
  for (PetscInt step = model.steps() - 1; step > 0; --step) {
    const std::vector<double> found = model.record(step);
    EXPECT_TRUE(found.empty() || difference(basic.record(step), found) == 0) << step;
  }
  model.after_step = nullptr;  // but not the next sweep
  model.start();
  EXPECT_EQ(model.solve(2), 0);
  (void)model.adjoint();
}

class Refused : public testing::TestWithParam<Method> {};

TEST_P(Refused, ASolutionEditedAfterAStep) {
  const CaughtErrors caught;
  Oscillators model(GetParam().options + " " + anadrome_type + few);
  int step = 0;
  model.after_step = [&step](Vec u) { VecScale(u, ++step > 5 ? 0.999 : 1); };
  EXPECT_EQ(model.solve(2), 0);
  model.turn();
  EXPECT_NE(model.back(), 0);
  const std::string& said = CaughtErrors::message();
  EXPECT_NE(said.find("run again differs from the first time"), std::string::npos) << said;
  EXPECT_NE(said.find("schedule store_all"), std::string::npos) << said;
}

TEST_P(Refused, ARightHandSideThatIsNotSwitchedBack) {
  const CaughtErrors caught;
  Oscillators model(GetParam().options + " " + anadrome_type + few);
  EXPECT_EQ(model.solve(1), 0);
  model.stiffness = 2.9;
  EXPECT_EQ(model.solve(2), 0);
  model.turn();
  EXPECT_NE(model.back(), 0);
  const std::string& said = CaughtErrors::message();
  EXPECT_NE(said.find("run again differs from the first time"), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(All, Refused, testing::ValuesIn(methods()),
                         [](const auto& tested) { return tested.param.name; });

// u' = -c u: fields or values of very different size, which do not touch each other.
class Decay {
 public:
  Decay(PetscInt local, PetscInt block, const std::vector<double>& sizes,
        const std::string& options) {
    EXPECT_EQ(PetscOptionsCreate(&options_), 0);
    EXPECT_EQ(PetscOptionsInsertString(options_, (anadrome_type + rk4 + options).c_str()), 0);
    EXPECT_EQ(VecCreate(PETSC_COMM_WORLD, &u_), 0);
    EXPECT_EQ(VecSetSizes(u_, local, PETSC_DETERMINE), 0);
    EXPECT_EQ(VecSetBlockSize(u_, block), 0);
    EXPECT_EQ(VecSetType(u_, VECSTANDARD), 0);
    PetscScalar* values = nullptr;
    EXPECT_EQ(VecGetArray(u_, &values), 0);
    for (PetscInt i = 0; i < local; ++i) {
      values[i] = sizes[static_cast<std::size_t>(i) % sizes.size()] *
                  std::cos(0.1 * static_cast<double>(i));
    }
    EXPECT_EQ(VecRestoreArray(u_, &values), 0);
    EXPECT_EQ(VecDuplicate(u_, &lambda_), 0);
    EXPECT_EQ(VecSet(lambda_, 1), 0);
    EXPECT_EQ(MatCreateConstantDiagonal(PETSC_COMM_WORLD, local, local, PETSC_DETERMINE,
                                        PETSC_DETERMINE, -0.1, &rate_),
              0);
    EXPECT_EQ(TSCreate(PETSC_COMM_WORLD, &ts_), 0);
    EXPECT_EQ(PetscObjectSetOptions(reinterpret_cast<PetscObject>(ts_), options_), 0);
    EXPECT_EQ(TSSetApplicationContext(ts_, this), 0);
    EXPECT_EQ(TSSetRHSFunction(ts_, nullptr, TSComputeRHSFunctionLinear, nullptr), 0);
    EXPECT_EQ(TSSetRHSJacobian(ts_, rate_, rate_, TSComputeRHSJacobianConstant, nullptr), 0);
    EXPECT_EQ(TSSetType(ts_, TSRK), 0);
    EXPECT_EQ(TSSetTimeStep(ts_, 0.1), 0);
    EXPECT_EQ(TSSetMaxSteps(ts_, 30), 0);
    EXPECT_EQ(TSSetExactFinalTime(ts_, TS_EXACTFINALTIME_STEPOVER), 0);
    EXPECT_EQ(TSSetPostStep(ts_, edit), 0);
    EXPECT_EQ(TSSetSaveTrajectory(ts_), 0);
    TSTrajectory trajectory = nullptr;
    EXPECT_EQ(TSGetTrajectory(ts_, &trajectory), 0);
    EXPECT_EQ(PetscObjectSetOptions(reinterpret_cast<PetscObject>(trajectory), options_), 0);
    EXPECT_EQ(TSSetFromOptions(ts_), 0);
  }
  ~Decay() {
    EXPECT_EQ(TSDestroy(&ts_), 0);
    EXPECT_EQ(MatDestroy(&rate_), 0);
    EXPECT_EQ(VecDestroy(&u_), 0);
    EXPECT_EQ(VecDestroy(&lambda_), 0);
    EXPECT_EQ(PetscOptionsDestroy(&options_), 0);
  }
  Decay(const Decay&) = delete;
  Decay& operator=(const Decay&) = delete;

  PetscErrorCode forward_and_back() {
    PetscFunctionBeginUser;
    PetscCall(TSSolve(ts_, u_));
    PetscCall(TSSetCostGradients(ts_, 1, &lambda_, nullptr));
    PetscCall(TSAdjointSolve(ts_));
    PetscFunctionReturn(0);
  }

  /// After step 12, multiplies every `every`th value of rank `of`, the first being `first`.
  PetscInt first = 0, every = 1;
  double factor = 1;
  int of = 0;

 private:
  static PetscErrorCode edit(TS ts) {
    Decay* self = nullptr;
    PetscInt step = 0, local = 0;
    PetscScalar* values = nullptr;
    PetscFunctionBeginUser;
    PetscCall(TSGetApplicationContext(ts, &self));
    PetscCall(TSGetStepNumber(ts, &step));
    if (step != 12 || self->factor == 1) PetscFunctionReturn(0);
    PetscCall(VecGetLocalSize(self->u_, &local));
    PetscCall(VecGetArray(self->u_, &values));
    for (PetscInt i = self->first; i < local && rank() == self->of; i += self->every) {
      values[i] *= self->factor;
    }
    PetscCall(VecRestoreArray(self->u_, &values));
    PetscFunctionReturn(0);
  }

  PetscOptions options_ = nullptr;
  TS ts_ = nullptr;
  Vec u_ = nullptr, lambda_ = nullptr;
  Mat rate_ = nullptr;
};

TEST(Detector, SeesASmallFieldBesideALargeOne) {
  for (const PetscInt block : {2, 5, 12}) {
    std::vector<double> sizes(static_cast<std::size_t>(block), 1e8);
    sizes[1] = 1;
    for (const double factor : {1.0, 0.99}) {
      const CaughtErrors caught;
      Decay model(4800, block, sizes, few);
      model.first = 1;
      model.every = block;
      model.factor = factor;
      model.of = ranks() - 1;
      EXPECT_EQ(model.forward_and_back() != 0, factor != 1) << "blocks of " << block;
    }
  }
}

TEST(Detector, SeesASmallValueAmongAFew) {
  for (const PetscInt local : {2, 8}) {
    for (const double factor : {1.0, 0.9}) {
      const CaughtErrors caught;
      Decay model(rank() == 0 ? local : 0, 1, {1e6, 1e-6}, few);
      model.first = 1;
      model.every = local;
      model.factor = factor;
      EXPECT_EQ(model.forward_and_back() != 0, factor != 1) << local << " values";
    }
  }
}

TEST(Detector, TakesAnySize) {
  for (const double size : {1e-100, 1e100}) {
    for (const double factor : {1.0, 0.999}) {
      const CaughtErrors caught;
      Decay model(100, 1, {size}, few);
      model.factor = factor;
      EXPECT_EQ(model.forward_and_back() != 0, factor != 1) << size;
    }
  }
}

// What would be found on the way back is found after the first steps.
TEST(Detector, RunsTheFirstStepsTwice) {
  for (const std::string kept : {"-ts_trajectory_stride 5", "-ts_trajectory_max_cps_ram 4"}) {
    for (const bool finds : {true, false}) {
      const CaughtErrors caught;
      Oscillators model(rk4 + anadrome_type + kept +
                        (finds ? "" : " -ts_trajectory_anadrome_audit off"));
      int step = 0;
      model.after_step = [&step](Vec u) { VecScale(u, ++step == 1 ? 0.999 : 1); };
      EXPECT_EQ(model.solve(2) != 0, finds) << kept;
      EXPECT_EQ(model.steps() < 10, finds);
    }
  }
}

// Where every record is kept no step is run again, and nothing is compared: gradients are then what
// they are with PETSc's own type.
TEST(Detector, RunsNoStepTwiceWhereAllIsKept) {
  for (const std::string kept : {"", " -ts_trajectory_anadrome_schedule store_all"}) {
    Oscillators model(rk4 + anadrome_type + kept);
    model.after_step = [&](Vec) { model.stiffness *= 1.001; };
    EXPECT_EQ(model.solve(2), 0) << kept;
    (void)model.adjoint();
    Oscillators basic(rk4 + "-ts_trajectory_type basic");
    basic.after_step = [&](Vec) { basic.stiffness *= 1.001; };
    EXPECT_EQ(basic.solve(2), 0);
    (void)basic.adjoint();
    EXPECT_EQ(difference(model.values(), basic.values()), 0) << kept;
  }
}

TEST(Detector, DoesAsAuditSays) {
  const auto outcome = [](const std::string& audit) {
    const CaughtErrors caught;
    Oscillators model(rk4 + anadrome_type +
                      "-ts_trajectory_max_cps_ram 4 -ts_trajectory_anadrome_audit " + audit);
    int step = 0;
    model.after_step = [&step](Vec u) { VecScale(u, ++step == 5 ? 1 + 1e-12 : 1); };
    PetscErrorCode code = model.solve(2);
    if (code != 0) return code;
    model.turn();
    return model.back();
  };
  EXPECT_EQ(outcome("error"), 0);  // rounding
  EXPECT_EQ(outcome("exact"), PETSC_ERR_USER);
  EXPECT_EQ(outcome("warn"), 0);
  EXPECT_EQ(outcome("off"), 0);
  EXPECT_EQ(outcome("maybe"), PETSC_ERR_ARG_WRONG);
}

// What it makes of a record has no place in the other's.
TEST(Detector, SeesAnotherMethodOnTheWay) {
  const auto to_5dp = [](TS ts) { return TSRKSetType(ts, TSRK5DP); };
  const auto to_3 = [](TS ts) { return TSRKSetType(ts, TSRK3); };
  const auto to_euler = [](TS ts) { return TSSetType(ts, TSEULER); };
  const auto to_order_4 = [](TS ts) { return TSBDFSetOrder(ts, 4); };
  struct Way {
    std::string options;
    std::function<PetscErrorCode(TS)> change;
  };
  const std::vector<Way> ways = {{rk4, to_5dp},
                                 {rk4, to_3},
                                 {rk4, to_euler},
                                 {"-ts_type bdf -ts_adapt_type none ", to_order_4}};
  const std::string store_all = "-ts_trajectory_anadrome_schedule store_all";
  for (const std::string& kept :
       {few, std::string("-ts_trajectory_stride 4"), store_all, std::string()}) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const bool to_adjoin = kept.empty();  // the solver itself has no need of one size
      if (to_adjoin && i > 1) continue;     // PETSc: no adjoint of these
      const CaughtErrors caught;
      Oscillators model(ways[i].options + anadrome_type + kept);
      model.after_step = [&](Vec) {
        if (model.steps() == 5) {
          EXPECT_EQ(ways[i].change(model.ts()), 0);
        }
      };
      EXPECT_EQ(model.solve(2) == 0, to_adjoin) << kept << " " << i;
      if (to_adjoin) {
        model.turn();
        EXPECT_NE(model.back(), 0);
      }
      const std::string& said = CaughtErrors::message();
      EXPECT_NE(said.find("another method than"), std::string::npos) << said;
    }
  }
}

TEST(Detector, SeesThatNumbersBecameNone) {
  const CaughtErrors caught;
  Oscillators model(rk4 + anadrome_type + few);
  EXPECT_EQ(model.solve(2), 0);
  model.turn();
  model.stiffness = std::nan("");
  EXPECT_NE(model.back(), 0);
}

}  // namespace

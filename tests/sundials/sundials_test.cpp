// SPDX-License-Identifier: BSD-2-Clause
// anadrome/sundials.h: what CVODES refuses, and vectors that are no array. Gradients, memory and
// ranks: examples/cvodes_adjoint, which is a test, too.
#include <anadrome/sundials.h>
#include <gtest/gtest.h>
#include <nvector/nvector_manyvector.h>
#include <nvector/nvector_parallel.h>
#include <sunlinsol/sunlinsol_spgmr.h>

#include <array>
#include <cmath>
#include <string>

#include "has_part.h"
#include "mpi_main.h"

namespace {

constexpr int kWindows = 10;

// y' = -y, and lambda' = lambda; `fails_from` is a time.
int rates(sunrealtype t, N_Vector y, N_Vector rate, void* fails_from) {
  if (t > *static_cast<double*>(fails_from)) return -1;
  N_VScale(-1, y, rate);
  return 0;
}
int adjoint_rates(sunrealtype, N_Vector, N_Vector lambda, N_Vector rate, void*) {
  N_VScale(1, lambda, rate);
  return 0;
}
int turn(void*, N_Vector y, N_Vector lambda) {
  N_VScale(1, y, lambda);
  return 0;
}

int half(sunrealtype, N_Vector y, sunrealtype* value, void*) {
  *value = N_VMaxNorm(y) - 0.5;
  return 0;
}

class Sundials : public ::testing::Test {
 protected:
  Sundials() {
    MPI_Comm comm = MPI_COMM_WORLD;
#if SUNDIALS_VERSION_MAJOR < 7
    SUNContext_Create(&comm, &context_);
#else
    SUNContext_Create(comm, &context_);
    SUNContext_ClearErrHandlers(context_);
#endif
    for (N_Vector& part : parts_) part = N_VNew_Parallel(comm, 3, 3, context_);
  }
  ~Sundials() override {
    for (N_Vector part : parts_) N_VDestroy(part);
    SUNContext_Free(&context_);
  }

  // The gradient of |y(1)|^2 / 2 with as many states in memory, into `lambda_`.
  anadrome_status gradient(N_Vector y, N_Vector lambda, const char* options) {
    void* memory = CVodeCreate(CV_BDF, context_);
    int backward = 0;
    N_VConst(1, y);
    CVodeInit(memory, rates, 0, y);
    CVodeSStolerances(memory, 1e-9, 1e-12);
    CVodeSetUserData(memory, &fails_from_);
    SUNLinearSolver solver = SUNLinSol_SPGMR(y, SUN_PREC_NONE, 0, context_);
    SUNLinearSolver solver_b = SUNLinSol_SPGMR(lambda, SUN_PREC_NONE, 0, context_);
    CVodeSetLinearSolver(memory, solver, nullptr);
    if (root_) CVodeRootInit(memory, 1, half);
    if (adjoint_) CVodeAdjInit(memory, 5, CV_HERMITE);
    CVodeCreateB(memory, CV_BDF, &backward);
    CVodeInitB(memory, backward, adjoint_rates, 1, lambda);
    CVodeSStolerancesB(memory, backward, 1e-9, 1e-12);
    CVodeSetLinearSolverB(memory, backward, solver_b, nullptr);
    anadrome_cvodes problem{};
    problem.memory = memory;
    problem.backward = backward;
    problem.end = 1;
    problem.windows = windows_;
    problem.state = y;
    problem.adjoint = lambda;
    problem.turn = turn;
    anadrome_run* run = nullptr;
    anadrome_open(MPI_COMM_WORLD, &run);
    anadrome_set(run, "schedule", "revolve");
    anadrome_set(run, "memory", options);
    const anadrome_status status = anadrome_cvodes_gradient(run, &problem);
    if (status != ANADROME_OK) why_ = anadrome_last_error();
    anadrome_close(&run);
    CVodeFree(&memory);
    SUNLinSolFree(solver);
    SUNLinSolFree(solver_b);
    return status;
  }

  SUNContext context_ = nullptr;
  std::array<N_Vector, 4> parts_{};
  double fails_from_ = 2;
  bool root_ = false, adjoint_ = true;
  std::int64_t windows_ = kWindows;
  std::string why_;
};

TEST_F(Sundials, WhatCvodesCannotIsNamed) {
  const auto expect_failure = [this](const char* said) {
    EXPECT_NE(gradient(parts_[0], parts_[1], "1MiB"), ANADROME_OK);
    EXPECT_TRUE(anadrome::test::has_part(why_, said));
  };
  fails_from_ = 0.35;
  expect_failure("CVode in window 3 gives CV_RHSFUNC_FAIL");
  fails_from_ = 2;
  root_ = true;  // where it ends a window
  expect_failure("CVode in window 6 gives CV_ROOT_RETURN");
  root_ = adjoint_ = false;
  fails_from_ = -1;  // a step would fail: what is missing is said before
  expect_failure("is there a CVodeAdjInit?");
  adjoint_ = true;
  windows_ = -1;
  EXPECT_EQ(gradient(parts_[0], parts_[1], "1MiB"), ANADROME_ERR_ARGUMENT) << why_;
}

TEST_F(Sundials, VectorsOfSeveralVectorsGiveTheSameGradient) {
  N_Vector y = N_VNew_ManyVector(2, &parts_[0], context_);
  N_Vector lambda = N_VNew_ManyVector(2, &parts_[2], context_);
  ASSERT_EQ(gradient(y, lambda, "1MiB"), ANADROME_OK) << why_;
  const std::array all = {N_VGetArrayPointer(parts_[2])[0], N_VGetArrayPointer(parts_[3])[2]};
  EXPECT_NEAR(all[0], std::exp(-2), 1e-7);
  N_VConst(0, lambda);
  ASSERT_EQ(gradient(y, lambda, "256B"), ANADROME_OK) << why_;
  EXPECT_EQ(all, (std::array{N_VGetArrayPointer(parts_[2])[0], N_VGetArrayPointer(parts_[3])[2]}));
  N_VDestroy(lambda);
  N_VDestroy(y);
}

}  // namespace

// A program whose steps cannot be run again gets an error, and never a wrong record.
#include <anadrome/petsc.h>
#include <gtest/gtest.h>

#include "mpi_main.h"
#include "oscillators.h"

namespace {

using namespace anadrome::test;

const std::string rk4 = "-ts_type rk -ts_rk_type 4 -ts_adapt_type none ";

const std::string anadrome_type =
    "-ts_trajectory_type anadrome -ts_trajectory_anadrome_memory 4MiB ";

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
  model.turn();
  EXPECT_EQ(model.back(), 0);
}

}  // namespace

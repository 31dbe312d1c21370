// SPDX-License-Identifier: BSD-2-Clause
// A sweep and passes after it, every action of which is checked.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "mpi_main.h"
#include "sweep_driver.h"

namespace anadrome::test {

inline constexpr anadrome_direction kForward = ANADROME_PASS_FORWARD,
                                    kReverse = ANADROME_PASS_REVERSE;
inline constexpr anadrome_direction kOrder[] = {kForward, kReverse, kForward, kReverse,
                                                kReverse, kForward, kForward};

class Passes : public testing::Test {
 protected:
  Passes()
      : model_(MPI_COMM_WORLD, counts()),
        tape_model_(MPI_COMM_WORLD, counts(), true),
        reference_(model_, 60),
        tape_reference_(tape_model_, 60) {}

  static Counts counts() {
    const auto r = static_cast<std::size_t>(rank());
    return Counts{3 + 2 * r, 2 + r, 1 + 3 * r, 13 + 5 * r, 7 + r};
  }

  CoupledModel& model(bool tape) { return tape ? tape_model_ : model_; }
  const Reference& reference(bool tape) const { return tape ? tape_reference_ : reference_; }

  void prepare(RunHandle& run, const std::string& schedule, std::int64_t blocks,
               bool tape = false) {
    EXPECT_EQ(model(tape).add_fields(run), ANADROME_OK) << anadrome_last_error();
    run.set("schedule", schedule);
    run.set("memory", std::to_string(blocks * least_memory(model(tape), "async")) + "B");
  }

  // A sweep, passes and a rewind; every action is checked, and what was promised comes.
  static void sweep_and_pass(RunHandle& run, SweepDriver& driver, std::int64_t steps,
                             bool unknown = false) {
    SCOPED_TRACE(std::to_string(steps) + " steps");
    Outcome total = driver.sweep(steps, unknown);
    ASSERT_TRUE(total.done && total.exact) << total.message;
    std::int64_t visits = 0, adjoints = steps, passes = 0;
    const auto check = [&](const Outcome& outcome) {
      EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
      total.advances += outcome.advances;
      const anadrome_stats stats = run.statistics();
      EXPECT_EQ(stats.forward_steps_taken, total.advances);
      EXPECT_EQ(stats.forward_steps_planned, total.advances);
      EXPECT_EQ(stats.visit_steps_taken, visits);
      EXPECT_EQ(stats.adjoint_steps_taken, adjoints);
      EXPECT_EQ(stats.passes, passes);
      EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
    };
    for (const anadrome_direction direction : kOrder) {
      const Outcome outcome = driver.pass(direction);
      if (passes == 0 && outcome.status == ANADROME_ERR_UNSUPPORTED) {  // x_0 is not kept
        EXPECT_EQ(anadrome_rewind(run), ANADROME_ERR_UNSUPPORTED) << outcome.message;
        return;
      }
      ++passes;
      (direction == kForward ? visits : adjoints) += steps;
      check(outcome);
    }
    adjoints += steps;
    check(driver.sweep_again());
    ++passes;
    visits += steps;
    check(driver.pass(kForward));
  }

  CoupledModel model_, tape_model_;
  const Reference reference_, tape_reference_;
};

}  // namespace anadrome::test

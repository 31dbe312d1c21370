// SPDX-License-Identifier: BSD-2-Clause
// Sweeps in memory alone: tapes beside states. Every state comes back bit by bit, within the memory
// granted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "has_part.h"
#include "mpi_main.h"
#include "schedule/stack/mixed.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kMostSteps = 60;
constexpr std::int64_t kLengths[] = {0, 1, 2, 5, 17, 60};

class NestedSchedules : public testing::Test {
 protected:
  NestedSchedules()
      : model_(MPI_COMM_WORLD, counts()),
        tape_model_(MPI_COMM_WORLD, counts(), true),
        reference_(model_, kMostSteps),
        tape_reference_(tape_model_, kMostSteps) {}

  static Counts counts() {
    const auto r = static_cast<std::size_t>(rank());
    return Counts{3 + 2 * r, 2 + r, 1 + 3 * r, 13 + 5 * r, 7 + r};
  }

  static RunHandle prepared(CoupledModel& model, const std::string& schedule, std::int64_t memory,
                            const RunOptions& more = {}) {
    return {model, {{"schedule", schedule}, {"memory", std::to_string(memory) + "B"}}, more};
  }

  // With a tape of `tape_slots` slots, in room for `slots` states.
  static void sweep_mixed(CoupledModel& model, const Reference& reference, std::int64_t slots,
                          std::int64_t tape_slots) {
    RunHandle run = prepared(model, "mixed", slots * least_memory(model, "revolve"));
    for (const std::int64_t steps : kLengths) {
      SCOPED_TRACE(std::to_string(steps) + " steps, " + std::to_string(slots) + " slots");
      SweepDriver driver(run, model, reference);
      const Outcome outcome = driver.sweep(steps);
      expect_exact(run, outcome, outcome.advances);
      const std::int64_t granted = run.statistics().checkpoint_slots;
      EXPECT_GE(granted, std::min(slots, steps * tape_slots + 1));
      const auto extra = anadrome::schedule::mixed_advances(steps, granted, tape_slots, false);
      EXPECT_EQ(outcome.advances, static_cast<std::int64_t>(extra) + steps);
    }
  }

  CoupledModel model_, tape_model_;
  const Reference reference_, tape_reference_;
};

TEST_F(NestedSchedules, MixedTakesTheFewestForwardSteps) {
  for (const std::int64_t slots : {1, 3, 9}) sweep_mixed(tape_model_, tape_reference_, slots, 1);
}

TEST_F(NestedSchedules, MixedKeepsTapesOfOneToFourStates) {
  const std::pair<std::size_t, std::int64_t> cases[] = {{20, 1}, {8, 2}, {4, 3}, {2, 4}};
  for (const auto& [bytes, tape_slots] : cases) {
    CoupledModel model(MPI_COMM_WORLD, Counts{1, 0, 0, bytes, 0}, true);
    const auto state = static_cast<std::int64_t>(model.state_bytes());
    EXPECT_EQ((24 + state - 1) / state, tape_slots);
    const Reference reference(model, kMostSteps);
    for (const std::int64_t slots : {2, 5, 13}) {
      sweep_mixed(model, reference, slots, tape_slots);
    }
  }
}

TEST_F(NestedSchedules, SayWhatTheyCannotDo) {
  const std::tuple<const char*, bool, bool, const char*> cases[] = {
      {"mixed", false, false, "tape"}, {"mixed", true, true, "number of steps"}};
  for (const auto& [schedule, tape, unknown, reason] : cases) {
    SCOPED_TRACE(schedule);
    CoupledModel& model = tape ? tape_model_ : model_;
    RunHandle run = prepared(model, schedule, 1 << 20);
    EXPECT_EQ(anadrome_begin(run, unknown ? ANADROME_STEPS_UNKNOWN : 5), ANADROME_ERR_UNSUPPORTED);
    EXPECT_TRUE(has_part(anadrome_last_error(), reason));
  }
}

TEST_F(NestedSchedules, MixedThatGaveX0UpCannotBeRewound) {
  RunHandle run = prepared(tape_model_, "mixed", 3 * least_memory(tape_model_, "revolve"));
  SweepDriver driver(run, tape_model_, tape_reference_);
  EXPECT_TRUE(driver.sweep(17).exact);
  EXPECT_EQ(anadrome_rewind(run), ANADROME_ERR_UNSUPPORTED);
  EXPECT_TRUE(driver.sweep(17).exact) << "the run goes on with a new sweep";
}

// Whose recorded steps are forward steps, too.
TEST_F(NestedSchedules, SayWhatRevolveAloneTakesWithTapes) {
  RunHandle run = prepared(tape_model_, "revolve", 5 * least_memory(tape_model_, "revolve"),
                           {{"report", directory() + "/tapes.txt"}});
  SweepDriver driver(run, tape_model_, tape_reference_);
  const Outcome outcome = driver.sweep(kMostSteps);
  expect_exact(run, outcome, outcome.advances);
  if (rank() != 0) return;
  char factor[32];
  std::snprintf(factor, sizeof factor, "%.3f",
                static_cast<double>(outcome.advances) / static_cast<double>(kMostSteps));
  std::ifstream file(directory() + "/tapes.txt");
  const std::string said(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(
      has_part(said, std::string("every tape kept 1, Revolve alone in this memory ") + factor));
}

}  // namespace

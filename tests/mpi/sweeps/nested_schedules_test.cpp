// SPDX-License-Identifier: BSD-2-Clause
// Schedules whose checkpoints nest: tapes beside states in RAM, and states on disk that are
// replaced. Every state comes back bit by bit, within the memory and the disk granted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "nested_schedules.h"
#include "schedule/uneven.h"

namespace {

using namespace anadrome::test;

TEST_F(NestedSchedules, MixedTakesTheFewestForwardSteps) {
  for (const std::int64_t slots : {1, 2, 3, 5, 9})
    sweep_mixed(tape_model_, tape_reference_, slots, 1);
}

TEST_F(NestedSchedules, MixedKeepsTapesOfOneToFourStates) {
  const std::pair<std::size_t, std::int64_t> cases[] = {{20, 1}, {8, 2}, {4, 3}, {2, 4}};
  for (const auto& [bytes, tape_slots] : cases) {
    CoupledModel model(MPI_COMM_WORLD, Counts{1, 0, 0, bytes, 0}, true);
    const auto state = static_cast<std::int64_t>(model.state_bytes());
    EXPECT_EQ((24 + state - 1) / state, tape_slots);
    const Reference reference(model, kMostSteps);
    for (const std::int64_t slots : {1, 2, 5, 9, 13}) {
      sweep_mixed(model, reference, slots, tape_slots);
    }
  }
}

TEST_F(NestedSchedules, MixedWithRoomForEveryTapeRunsNoStepTwice) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, tape_model_, "mixed", 64 * least_memory(tape_model_, "revolve"));
  SweepDriver driver(run, tape_model_, tape_reference_);
  const Outcome outcome = driver.sweep(kMostSteps);
  expect_exact(run, outcome, kMostSteps);
}

TEST_F(NestedSchedules, SayWhatTheyCannotDo) {
  const std::tuple<const char*, bool, bool, const char*> cases[] = {
      {"mixed", false, false, "tape"},
      {"mixed", true, true, "number of steps"},
      {"hrevolve", false, true, "number of steps"},
      {"disk_revolve", false, true, "number of steps"},
      {"multistage", false, true, "number of steps"},
      {"overlapped", false, true, "number of steps"},
      {"least_memory", false, true, "number of steps"},
      {"offload", false, true, "number of steps"}};
  for (const auto& [schedule, tape, unknown, reason] : cases) {
    SCOPED_TRACE(schedule);
    CoupledModel& model = tape ? tape_model_ : model_;
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model, schedule, 1 << 20);
    EXPECT_EQ(anadrome_begin(run, unknown ? ANADROME_STEPS_UNKNOWN : 5), ANADROME_ERR_UNSUPPORTED);
    EXPECT_NE(std::string(anadrome_last_error()).find(reason), std::string::npos)
        << anadrome_last_error();
  }
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_, "hrevolve", 1 << 20);
  run.set("keep", "on");
  EXPECT_EQ(anadrome_begin(run, 5), ANADROME_ERR_UNSUPPORTED);
}

TEST_F(NestedSchedules, MixedThatGaveX0UpCannotBeRewound) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, tape_model_, "mixed", 3 * least_memory(tape_model_, "revolve"));
  SweepDriver driver(run, tape_model_, tape_reference_);
  EXPECT_TRUE(driver.sweep(17).exact);
  EXPECT_EQ(anadrome_rewind(run), ANADROME_ERR_UNSUPPORTED);
  EXPECT_TRUE(driver.sweep(17).exact) << "the run goes on with a new sweep";
}

// Whose recorded steps are forward steps, too.
TEST_F(NestedSchedules, SayWhatRevolveAloneTakesWithTapes) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, tape_model_, "revolve", 5 * least_memory(tape_model_, "revolve"));
  run.set("report", directory() + "/tapes.txt");
  SweepDriver driver(run, tape_model_, tape_reference_);
  const Outcome outcome = driver.sweep(kMostSteps);
  expect_exact(run, outcome, outcome.advances);
  if (rank() != 0) return;
  char factor[32];
  std::snprintf(factor, sizeof factor, "%.3f",
                static_cast<double>(outcome.advances) / static_cast<double>(kMostSteps));
  std::ifstream file(directory() + "/tapes.txt");
  const std::string said(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(said.find(std::string("every tape kept 1, Revolve alone in this memory ") + factor),
            std::string::npos)
      << said;
}

TEST_F(NestedSchedules, UnevenTakesTheCheapestForwardSteps) {
  for (const bool tape : {false, true}) {
    CoupledModel& model = tape ? tape_model_ : model_;
    const Reference& reference = tape ? tape_reference_ : reference_;
    for (const std::int64_t slots : {1, 2, 3, 7}) {
      for (const std::int64_t steps : {1, 2, 17, 60}) {
        SCOPED_TRACE(std::to_string(steps) + " steps, " + std::to_string(slots) + " slots");
        RunHandle fresh(MPI_COMM_WORLD);
        const std::int64_t table = (steps + 2) * 256;
        const std::int64_t memory = (slots * least_memory(model, "revolve") + table) * 8 / 7 + 8;
        prepare(fresh, model, "uneven", memory);
        fresh.set("preflight", "off");  // every step has its cost here
        fresh.set("audit", "off");
        const std::vector<double> seconds = rising_costs(steps);
        ASSERT_EQ(anadrome_set_step_costs(fresh, steps, seconds.data(), nullptr), ANADROME_OK);
        SweepDriver driver(fresh, model, reference);
        std::int64_t cost = 0;
        driver.before_action = [&](const anadrome_action& action) {
          if (action.kind != ANADROME_ADVANCE) return;
          const std::int64_t last = action.last - action.record;
          for (std::int64_t k = action.first; k < last; ++k) cost += k + 1;
        };
        const Outcome outcome = driver.sweep(steps);
        expect_exact(fresh, outcome, outcome.advances);
        anadrome::schedule::UnevenSteps uneven;
        for (std::int64_t k = 0; k < steps; ++k) uneven.costs.push_back(k + 1);
        uneven.bytes = fresh.statistics().checkpoint_slots;
        uneven.turn_is_a_step = !tape;
        uneven.table_bytes = memory / 8;
        EXPECT_EQ(cost, anadrome::schedule::UnevenPlanner(uneven).cost());
      }
    }
  }
}

TEST_F(NestedSchedules, UnevenMeasuresTheFirstSweepForTheNext) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_, "uneven", 5 * least_memory(model_, "revolve") + 64 * 1024);
  for (int sweep = 0; sweep < 3; ++sweep) {
    SweepDriver driver(run, model_, reference_);
    bool one_at_a_time = true;
    driver.before_action = [&](const anadrome_action& action) {
      const bool first_time = action.kind == ANADROME_ADVANCE && action.again == 0;
      if (first_time && action.last != action.first + 1) one_at_a_time = false;
    };
    const Outcome outcome = driver.sweep(kMostSteps);
    expect_exact(run, outcome, outcome.advances);
    EXPECT_TRUE(sweep > 0 || one_at_a_time) << "each step is measured";
  }
}

TEST_F(NestedSchedules, UnevenRemembersTheCostsItWasGiven) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_, "uneven", (3 * least_memory(model_, "revolve") + 62 * 256) * 8 / 7 + 8);
  const std::vector<double> seconds = rising_costs(60);
  EXPECT_EQ(anadrome_set_step_costs(run, 60, seconds.data(), nullptr), ANADROME_OK);
  const auto longest_first_advance = [&](std::int64_t steps) {
    SweepDriver driver(run, model_, reference_);
    std::int64_t longest = 0;
    driver.before_action = [&](const anadrome_action& action) {
      const bool first_time = action.kind == ANADROME_ADVANCE && action.again == 0;
      if (first_time) longest = std::max(longest, action.last - action.first);
    };
    EXPECT_TRUE(driver.sweep(steps).exact);
    return longest;
  };
  EXPECT_GT(longest_first_advance(60), 1);
  EXPECT_EQ(longest_first_advance(59), 1) << "another number of steps is measured";
  EXPECT_GT(longest_first_advance(59), 1);
  EXPECT_GT(longest_first_advance(60), 1) << "what was given still holds";
}

TEST_F(NestedSchedules, UnevenStopsMeasuringWithItsSweep) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_, "uneven", 5 * least_memory(model_, "revolve") + 64 * 1024);
  SweepDriver driver(run, model_, reference_);
  const auto half = [](const anadrome_action& action) { return action.first >= 30; };
  EXPECT_EQ(driver.begin_and_stop(kMostSteps, false, half).status, ANADROME_OK);
  EXPECT_EQ(anadrome_begin(run, 2), ANADROME_OK);  // abandons it, so that options can be set
  anadrome_action action;
  while (anadrome_next(run, &action) == ANADROME_OK && action.kind != ANADROME_DONE) {
  }
  run.set("schedule", "revolve");
  run.set("memory", std::to_string(3 * least_memory(model_, "revolve")) + "B");
  SweepDriver other(run, model_, reference_);
  std::int64_t longest = 0;
  other.before_action = [&](const anadrome_action& next) {
    if (next.kind == ANADROME_ADVANCE) longest = std::max(longest, next.last - next.first);
  };
  EXPECT_TRUE(other.sweep(kMostSteps).exact);
  EXPECT_GT(longest, 1);
}

TEST_F(NestedSchedules, UnevenRefusesCostsThatMakeNoSense) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_, "uneven", 1 << 20);
  const double negative[] = {1, -1}, endless[] = {1, HUGE_VAL}, fine[] = {1, 2};
  const std::int64_t other_size[] = {1, 2};
  EXPECT_EQ(anadrome_set_step_costs(run, 2, negative, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_step_costs(run, 2, endless, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_step_costs(run, -1, fine, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_step_costs(run, 2, nullptr, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_step_costs(run, 2, fine, other_size), ANADROME_ERR_UNSUPPORTED);
  EXPECT_EQ(anadrome_set_step_costs(run, 2, fine, nullptr), ANADROME_OK);
  SweepDriver driver(run, model_, reference_);
  EXPECT_TRUE(driver.sweep(17).exact) << "costs of two steps are not those of seventeen";
}

TEST_F(NestedSchedules, OnlinePlacesStatesAsTheyPass) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_, "online", 4 * least_memory(model_, "revolve"));
  for (const bool unknown : {false, true}) {
    SweepDriver driver(run, model_, reference_);
    const Outcome outcome = driver.sweep(kMostSteps, unknown);
    expect_exact(run, outcome, outcome.advances);
    EXPECT_EQ(run.statistics().bytes_written, 0);
  }
}

}  // namespace

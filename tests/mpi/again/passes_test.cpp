// SPDX-License-Identifier: BSD-2-Clause
// Passes over a trajectory that was swept: every state has the bits of a fresh sweep, whatever
// holds it, in every order of passes.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "faulty_file_system.h"
#include "has_part.h"
#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

constexpr anadrome_direction kForward = ANADROME_PASS_FORWARD, kReverse = ANADROME_PASS_REVERSE;
constexpr anadrome_direction kOrder[] = {kForward, kReverse, kForward, kReverse,
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

  RunHandle prepared(const std::string& schedule, std::int64_t blocks, bool tape = false,
                     const RunOptions& more = {}) {
    const std::int64_t memory = blocks * least_memory(model(tape), "async");
    return {model(tape), {{"schedule", schedule}, {"memory", std::to_string(memory) + "B"}}, more};
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

TEST_F(Passes, HaveTheBitsOfASweepWhateverHoldsTheStates) {
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    for (const std::int64_t blocks : {2, 4, 64}) {
      for (const bool tape : {false, true}) {
        SCOPED_TRACE(std::string(schedule) + ", blocks " + std::to_string(blocks) +
                     (tape ? ", tape" : ""));
        if (std::string(schedule) == "store_all" && blocks < 64) continue;
        RunHandle run = prepared(schedule, blocks, tape);
        if (blocks != 4) run.set("passes", "8");
        SweepDriver driver(run, model(tape), reference(tape));
        for (const std::int64_t steps : {0, 1, 2, 17, 60}) sweep_and_pass(run, driver, steps);
      }
    }
  }
}

TEST_F(Passes, HaveThemWithAnyInterval) {
  for (const char* interval : {"1", "3", "auto"}) {
    for (const char* transport : kTransports) {
      for (const std::int64_t blocks : {1, 3, 7}) {
        const bool direct = transport == kTransports.front();
        if (!direct && blocks != 3) continue;  // they are slow, and their memory is no other
        for (const bool tape : {false, true}) {
          SCOPED_TRACE(std::string("interval ") + interval + ", " + transport + ", blocks " +
                       std::to_string(blocks) + (tape ? ", tape" : ""));
          RunHandle run = prepared("async", blocks, tape,
                                   {{"interval", interval},
                                    {"transport", transport},
                                    {"passes", blocks == 3 ? "0" : "20"}});
          SweepDriver driver(run, model(tape), reference(tape));
          for (const std::int64_t steps : {1, 60}) sweep_and_pass(run, driver, steps);
        }
      }
    }
  }
}

TEST_F(Passes, RunNoStepWithADiskForEveryState) {
  for (const char* transport : kTransports) {
    RunHandle run =
        prepared("async", 3, false, {{"interval", "1"}, {"passes", "4"}, {"transport", transport}});
    SweepDriver driver(run, model_, reference_);
    EXPECT_TRUE(driver.sweep(60).exact);
    for (const anadrome_direction direction : kOrder) {
      const Outcome outcome = driver.pass(direction);
      EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
      EXPECT_EQ(outcome.advances, 0);
    }
  }
}

TEST_F(Passes, RunNoStepWithMemoryForEveryState) {
  for (const char* schedule : {"store_all", "revolve", "async", "auto"}) {
    RunHandle run = prepared(schedule, 70, false, {{"passes", "4"}});
    SweepDriver driver(run, model_, reference_);
    EXPECT_TRUE(driver.sweep(60).exact);
    for (const anadrome_direction direction : kOrder) {
      EXPECT_EQ(driver.pass(direction).advances, 0) << schedule;
    }
    EXPECT_EQ(run.statistics().bytes_read, 0);
  }
}

TEST_F(Passes, HaveALineEachBelowTheSummary) {
  const std::string file = directory() + "/summary";
  RunHandle run = prepared("store_all", 70, false, {{"report", file}, {"passes", "2"}});
  SweepDriver driver(run, model_, reference_);
  EXPECT_TRUE(driver.sweep(60).exact);
  EXPECT_TRUE(driver.pass(kForward).exact);
  EXPECT_TRUE(driver.pass(kReverse).exact);
  if (rank() > 0) return;
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(text.find("anadrome "), 0U) << text;
  EXPECT_TRUE(has_part(text, " --passes 2")) << "the command that plans the next job";
  EXPECT_TRUE(has_part(text, "  pass 1     forward, 0.000 forward steps per step, "));
  EXPECT_TRUE(has_part(text, "  pass 2     reverse, 0.000 forward steps per step, "));
}

TEST_F(Passes, AreInTheTrace) {
  const std::string file = directory() + "/trace";
  RunHandle run = prepared("async", 3, false, {{"trace", file}});
  SweepDriver driver(run, model_, reference_);
  EXPECT_TRUE(driver.sweep(60).exact);
  const auto count = [&](const std::string& name) {
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const std::string event = "\"name\":\"" + name + "\",\"ts\"";
    int number = 0;
    for (std::size_t at = text.find(event); at != std::string::npos; at = text.find(event, at + 1))
      ++number;
    return number;
  };
  int forward = 0, reverse = 0;
  for (const anadrome_direction direction : kOrder) {
    EXPECT_TRUE(driver.pass(direction).exact);
    ++(direction == kForward ? forward : reverse);
    if (rank() > 0) continue;
    EXPECT_EQ(count("visit"), 60 * forward * ranks());
    EXPECT_EQ(count("adjoint"), 60 * (1 + reverse) * ranks());
    EXPECT_EQ(count("forward pass"), forward * ranks());
    EXPECT_EQ(count("reverse pass"), reverse * ranks());
  }
}

TEST_F(Passes, GoOnWithWhatAFullDiskHolds) {
  for (const std::int64_t blocks : {2, 3, 4, 7}) {
    for (const std::int64_t states : {1, 3, 8, 20}) {
      SCOPED_TRACE(std::to_string(blocks) + " blocks, " + std::to_string(states) + " states");
      RunHandle run = prepared("async", blocks, false, {{"interval", "2"}, {"passes", "4"}});
      SweepDriver driver(run, model_, reference_);
      FaultyFileSystem files;
      if (rank() == 0) files.arm(Operation::kWrite, states, Fault::kNoSpace, true);
      const Outcome swept = driver.sweep(60);
      EXPECT_TRUE(swept.exact);
      EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, swept.status)) << swept.message;
      for (const anadrome_direction direction : kOrder) {
        if (!swept.done) break;
        const Outcome outcome = driver.pass(direction);
        EXPECT_TRUE(outcome.exact) << outcome.message;
        EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, outcome.status)) << outcome.message;
        EXPECT_TRUE(outcome.done) << outcome.message;
        if (!outcome.done) break;
      }
    }
  }
}

// A program that comes to its passes again after it was stopped in one.
TEST_F(Passes, OfAStoppedRunBeginAnew) {
  const RunOptions options = {
      {"interval", "4"}, {"passes", "4"}, {"resume", "on"}, {"checkpoint_interval", "0"}};
  {
    RunHandle run = prepared("async", 3, false, options);
    SweepDriver driver(run, model_, reference_);
    EXPECT_TRUE(driver.sweep(60).exact);
    driver.before_action = [&](const anadrome_action& action) {
      if (action.first == 30) anadrome_request_stop(run);
    };
    const Outcome outcome = driver.pass(kForward);
    EXPECT_EQ(outcome.status, ANADROME_STOPPED) << outcome.message;
    EXPECT_TRUE(has_part(outcome.message, "first reverse sweep"));
  }
  RunHandle run = prepared("async", 3, false, options);
  EXPECT_EQ(anadrome_begin(run, 60), ANADROME_OK) << anadrome_last_error();
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  std::int64_t step = 0;
  EXPECT_EQ(anadrome_resumed(run, &phase, &step), ANADROME_OK);
  EXPECT_NE(phase, ANADROME_PHASE_IDLE);
  anadrome_action action;
  do {
    ASSERT_EQ(anadrome_next(run, &action), ANADROME_OK) << anadrome_last_error();
    for (std::int64_t k = action.first; k < action.last && action.kind == ANADROME_ADVANCE; ++k)
      model_.step(k);
  } while (action.kind != ANADROME_DONE);
  SweepDriver driver(run, model_, reference_);
  driver.adopt(60);
  EXPECT_TRUE(driver.pass(kForward).exact);
}

// The room of x_0 went to a tape.
TEST_F(Passes, AreRefusedWhereX0IsNotKept) {
  RunHandle run = prepared("mixed", 4, true);
  SweepDriver driver(run, tape_model_, tape_reference_);
  EXPECT_TRUE(driver.sweep(20).done);
  EXPECT_EQ(anadrome_pass(run, kForward), ANADROME_ERR_UNSUPPORTED);
  EXPECT_TRUE(has_part(anadrome_last_error(), "does not hold x_0 any more"));
}

TEST_F(Passes, AreForASweepThatIsDone) {
  RunHandle run = prepared("revolve", 4);
  EXPECT_EQ(anadrome_pass(run, kForward), ANADROME_ERR_ORDER);
  SweepDriver driver(run, model_, reference_);
  EXPECT_TRUE(driver.sweep(20).done);
  EXPECT_EQ(anadrome_pass(run, static_cast<anadrome_direction>(7)), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_pass(run, rank() == 0 ? kForward : kReverse),
            ranks() == 1 ? ANADROME_OK : ANADROME_ERR_ARGUMENT)
      << anadrome_last_error();
  if (ranks() > 1) {
    EXPECT_TRUE(driver.pass(kForward).exact) << "nothing has changed";
  }
}

// ---- fields of every kind ----

// One without states on disk, and the one that has them there.
constexpr const char* kSchedules[] = {"revolve", "async"};

class PassKinds : public Passes {
 protected:
  // Four slots; as few blocks as will do, so that states are read from disk.
  RunHandle prepared(const std::string& schedule, std::int64_t blocks, bool tape) {
    const char* const slots = schedule == "store_all" ? "unlimited" : "4";
    return Passes::prepared(schedule, blocks, tape,
                            {{"checkpoints", slots}, {"interval", "3"}, {"passes", "8"}});
  }

  // Memory for a codec's buffers may hold all of these small states.
  static void expect_reads(const RunHandle& run, const std::string& schedule) {
    if (schedule == "async" && !compresses()) {
      EXPECT_GT(run.statistics().bytes_read, 0);
    }
  }
};

TEST_F(PassKinds, HaveTheBitsOfASweepWithExchangedFields) {
  for (const char* schedule : kSchedules) {
    for (const bool tape : {false, true}) {
      for (const unsigned exchanged : {kFloat32s | kBytes, +kAllFields}) {
        SCOPED_TRACE(std::string(schedule) + (tape ? ", tape" : "") + ", exchanged " +
                     std::to_string(exchanged));
        model(tape).exchanged = exchanged;
        RunHandle run = prepared(schedule, 3, tape);
        if (exchanged == kAllFields) run.set("passes", "0");
        SweepDriver driver(run, model(tape), reference(tape));
        sweep_and_pass(run, driver, 40);
        expect_reads(run, schedule);
        model(tape).exchanged = kNoField;
      }
    }
  }
}

TEST_F(PassKinds, HaveThemWhereTheEndWasNotKnown) {
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    for (const bool tape : {false, true}) {
      SCOPED_TRACE(std::string(schedule) + (tape ? ", tape" : ""));
      RunHandle run = prepared(schedule, schedule == std::string("store_all") ? 64 : 4, tape);
      SweepDriver driver(run, model(tape), reference(tape));
      for (const std::int64_t steps : {0, 1, 16, 23}) sweep_and_pass(run, driver, steps, true);
    }
  }
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Passes over a trajectory that was swept: every state has the bits of a fresh sweep, whatever
// holds it, in every order of passes.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "faulty_file_system.h"
#include "passes.h"

namespace {

using namespace anadrome::test;

TEST_F(Passes, HaveTheBitsOfASweepWhateverHoldsTheStates) {
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    for (const std::int64_t blocks : {2, 4, 64}) {
      for (const bool tape : {false, true}) {
        SCOPED_TRACE(std::string(schedule) + ", blocks " + std::to_string(blocks) +
                     (tape ? ", tape" : ""));
        if (std::string(schedule) == "store_all" && blocks < 64) continue;
        RunHandle run(MPI_COMM_WORLD);
        prepare(run, schedule, blocks, tape);
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
        const bool direct = transport == std::string("direct");
        if (!direct && blocks != 3) continue;  // they are slow, and their memory is no other
        for (const bool tape : {false, true}) {
          SCOPED_TRACE(std::string("interval ") + interval + ", " + transport + ", blocks " +
                       std::to_string(blocks) + (tape ? ", tape" : ""));
          RunHandle run(MPI_COMM_WORLD);
          prepare(run, "async", blocks, tape);
          run.set("interval", interval);
          run.set("transport", transport);
          run.set("passes", blocks == 3 ? "0" : "20");
          SweepDriver driver(run, model(tape), reference(tape));
          for (const std::int64_t steps : {1, 60}) sweep_and_pass(run, driver, steps);
        }
      }
    }
  }
}

TEST_F(Passes, RunNoStepWithADiskForEveryState) {
  for (const char* transport : kTransports) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, "async", 3);
    run.set("interval", "1");
    run.set("passes", "4");
    run.set("transport", transport);
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
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, schedule, 70);
    run.set("passes", "4");
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
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "store_all", 70);
  run.set("report", file);
  run.set("passes", "2");
  SweepDriver driver(run, model_, reference_);
  EXPECT_TRUE(driver.sweep(60).exact);
  EXPECT_TRUE(driver.pass(kForward).exact);
  EXPECT_TRUE(driver.pass(kReverse).exact);
  if (rank() > 0) return;
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(text.find("anadrome "), 0U) << text;
  EXPECT_NE(text.find(" --passes 2"), std::string::npos) << "the command that plans the next job";
  EXPECT_NE(text.find("  pass 1     forward, 0.000 forward steps per step, "), std::string::npos);
  EXPECT_NE(text.find("  pass 2     reverse, 0.000 forward steps per step, "), std::string::npos);
}

TEST_F(Passes, AreInTheTrace) {
  const std::string file = directory() + "/trace";
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "async", 3);
  run.set("trace", file);
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

// The exact states, or the same error on all ranks.
TEST_F(Passes, SurviveADiskThatFailsUnderThem) {
  std::int64_t lost = 0, finished = 0, errors = 0;
  for (const Fault fault : {Fault::kIoError, Fault::kFlippedBit}) {
    for (const char* interval : {"1", "5"}) {
      for (const std::int64_t at : {1, 2, 3, 9}) {
        for (const bool once : {false, true}) {
          RunHandle run(MPI_COMM_WORLD);
          prepare(run, "async", 3, at == 3);
          run.set("interval", interval);
          run.set("direct", "off");
          run.set("passes", "4");
          SweepDriver driver(run, model(at == 3), reference(at == 3));
          EXPECT_TRUE(driver.sweep(60).exact);
          FaultyFileSystem files;
          if (rank() == ranks() - 1) files.arm(Operation::kRead, at, fault, !once);
          for (const anadrome_direction direction : kOrder) {
            const Outcome outcome = driver.pass(direction);
            EXPECT_TRUE(outcome.exact);
            EXPECT_TRUE(outcome.done || outcome.status != ANADROME_OK);
            EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, outcome.status)) << outcome.message;
            (outcome.done ? finished : errors) += 1;
            if (!outcome.done) break;
          }
          lost += run.statistics().anchors_lost;
          files.disarm();
          EXPECT_TRUE(driver.sweep(60).exact) << "the run goes on with a new sweep";
        }
      }
    }
  }
  EXPECT_GT(lost, 0);
  EXPECT_GT(finished, 0);
}

TEST_F(Passes, GoOnWithWhatAFullDiskHolds) {
  for (const std::int64_t blocks : {2, 3, 4, 7}) {
    for (const std::int64_t states : {1, 3, 8, 20}) {
      SCOPED_TRACE(std::to_string(blocks) + " blocks, " + std::to_string(states) + " states");
      RunHandle run(MPI_COMM_WORLD);
      prepare(run, "async", blocks);
      run.set("interval", "2");
      run.set("passes", "4");
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

// A program that comes to its passes again after it was stopped in one, and once more in another.
TEST_F(Passes, OfAStoppedRunBeginAnew) {
  const std::string name = "stopped_in_a_pass";
  for (const int life : {0, 1, 2}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, "async", 3);
    run.set("name", name);
    run.set("interval", "4");
    run.set("passes", "4");
    run.set("resume", "on");
    run.set("checkpoint_interval", "0");
    SweepDriver driver(run, model_, reference_);
    if (life > 0) {
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
      driver.adopt(60);
    } else {
      EXPECT_TRUE(driver.sweep(60).exact);
    }
    const auto stop_in = [&](anadrome_direction direction) {
      driver.before_action = [&](const anadrome_action& action) {
        if (action.first == 30) anadrome_request_stop(run);
      };
      const Outcome outcome = driver.pass(direction);
      EXPECT_EQ(outcome.status, ANADROME_STOPPED) << outcome.message;
      EXPECT_NE(outcome.message.find("first reverse sweep"), std::string::npos) << outcome.message;
    };
    if (life == 0) {
      stop_in(kForward);
      continue;
    }
    EXPECT_TRUE(driver.pass(kForward).exact);
    if (life == 1) {
      stop_in(kReverse);
      continue;
    }
    const Outcome outcome = driver.pass(kReverse);
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
  }
}

// The room of x_0 went to a tape.
TEST_F(Passes, AreRefusedWhereX0IsNotKept) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "mixed", 4, true);
  SweepDriver driver(run, tape_model_, tape_reference_);
  EXPECT_TRUE(driver.sweep(20).done);
  EXPECT_EQ(anadrome_pass(run, kForward), ANADROME_ERR_UNSUPPORTED);
  EXPECT_NE(std::string(anadrome_last_error()).find("does not hold x_0 any more"),
            std::string::npos)
      << anadrome_last_error();
}

TEST_F(Passes, AreForASweepThatIsDone) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "revolve", 4);
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

}  // namespace

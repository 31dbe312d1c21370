// SPDX-License-Identifier: BSD-2-Clause
// Passes over a trajectory that was swept: every state has the bits of a fresh sweep, whatever
// holds it, in every order of passes.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
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

// Of arrays without tapes it is simulated. With 8 passes or more all is planned for them.
TEST_F(Passes, HaveTheBitsOfASweepWhateverHoldsTheStates) {
  struct Case {
    const char *schedule, *interval, *transport, *passes;
    std::int64_t blocks;
  };
  const char* const mpio = kTransports.back();
  for (const Case& c : {Case{"store_all", "auto", "auto", "8", 64},
                        {"revolve", "auto", "auto", "0", 4},
                        {"revolve", "auto", "auto", "8", 2},
                        {"async", "1", "auto", "20", 1},
                        {"async", "3", "auto", "0", 3},
                        {"async", "auto", "auto", "8", 4},
                        {"async", "3", mpio, "0", 3},
                        {"async", "1", mpio, "20", 3}}) {
    for (const bool tape : {false, true}) {
      SCOPED_TRACE(std::string(c.schedule) + ", interval " + c.interval + ", " + c.transport +
                   (tape ? ", tape" : ""));
      RunHandle run =
          prepared(c.schedule, c.blocks, tape,
                   {{"interval", c.interval}, {"transport", c.transport}, {"passes", c.passes}});
      SweepDriver driver(run, model(tape), reference(tape));
      const bool slow = c.transport != std::string("auto");
      for (const std::int64_t steps : {0, 1, 2, 17, 60})
        if (!slow || steps == 1 || steps == 60) sweep_and_pass(run, driver, steps);
    }
  }
}

TEST_F(Passes, RunNoStepWithADiskOrMemoryForEveryState) {
  for (const char* schedule : {"store_all", "revolve", "async", "auto"}) {
    for (const char* transport : kTransports) {
      const bool on_disk = schedule == std::string("async");
      SCOPED_TRACE(std::string(schedule) + ", " + transport);
      RunHandle run = prepared(
          schedule, on_disk ? 3 : 70, false,
          {{"interval", on_disk ? "1" : "auto"}, {"passes", "4"}, {"transport", transport}});
      SweepDriver driver(run, model_, reference_);
      EXPECT_TRUE(driver.sweep(60).exact);
      for (const anadrome_direction direction : kOrder) {
        const Outcome outcome = driver.pass(direction);
        EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
        EXPECT_EQ(outcome.advances, 0);
      }
      EXPECT_TRUE(on_disk || run.statistics().bytes_read == 0);
    }
  }
}

TEST_F(Passes, HaveALineEachBelowTheSummaryAndAreInTheTrace) {
  const std::string summary = directory() + "/summary", trace = directory() + "/trace";
  RunHandle run =
      prepared("store_all", 70, false, {{"report", summary}, {"trace", trace}, {"passes", "2"}});
  SweepDriver driver(run, model_, reference_);
  EXPECT_TRUE(driver.sweep(60).exact);
  EXPECT_TRUE(driver.pass(kForward).exact);
  EXPECT_TRUE(driver.pass(kReverse).exact);
  if (rank() > 0) return;
  const auto text_of = [](const std::string& file) {
    std::ifstream stream(file);
    return std::string{std::istreambuf_iterator<char>(stream), {}};
  };
  const std::string text = text_of(summary), events = text_of(trace);
  EXPECT_TRUE(text.starts_with("anadrome ")) << text;
  EXPECT_TRUE(has_part(text, " --passes 2")) << "the command that plans the next job";
  EXPECT_TRUE(has_part(text, "  pass 1     forward, 0.000 forward steps per step, "));
  EXPECT_TRUE(has_part(text, "  pass 2     reverse, 0.000 forward steps per step, "));
  const std::pair<const char*, int> expected[] = {
      {"visit", 60}, {"adjoint", 120}, {"forward pass", 1}, {"reverse pass", 1}};
  for (const auto& [name, of_a_rank] : expected) {
    const std::string event = "\"name\":\"" + std::string(name) + "\",\"ts\"";
    int number = 0;
    for (std::size_t at = events.find(event); at != std::string::npos;
         at = events.find(event, at + 1))
      ++number;
    EXPECT_EQ(number, of_a_rank * ranks()) << name;
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
  ASSERT_EQ(follow(run, ANADROME_OK,
                   [&](const anadrome_action& action) {
                     take_steps(action, [&](std::int64_t k) { model_.step(k); });
                   }),
            ANADROME_OK)
      << anadrome_last_error();
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

TEST_F(Passes, HaveTheBitsOfASweepWithExchangedFieldsAndWhereTheEndWasNotKnown) {
  struct Case {
    const char* schedule;
    std::int64_t blocks;
    unsigned exchanged;
  };
  for (const Case& c : {Case{"revolve", 3, kFloat32s | kBytes},
                        {"async", 3, kAllFields},
                        {"store_all", 64, kNoField},
                        {"async", 4, kNoField}}) {
    for (const bool tape : {false, true}) {
      SCOPED_TRACE(std::string(c.schedule) + (tape ? ", tape" : "") + ", exchanged " +
                   std::to_string(c.exchanged));
      const bool all = c.schedule == std::string("store_all");
      model(tape).exchanged = c.exchanged;
      RunHandle run = prepared(c.schedule, c.blocks, tape,
                               {{"checkpoints", all ? "unlimited" : "4"},
                                {"interval", "3"},
                                {"passes", c.exchanged == kAllFields ? "0" : "8"}});
      SweepDriver driver(run, model(tape), reference(tape));
      for (const std::int64_t steps : {0, 1, 23, 40})
        sweep_and_pass(run, driver, steps, c.exchanged == kNoField);
      // Memory for a codec's buffers may hold all of these small states.
      if (c.exchanged == kAllFields && !compresses()) {
        EXPECT_GT(run.statistics().bytes_read, 0);
      }
    }
  }
}

}  // namespace

// Schedules whose checkpoints nest: tapes beside states in RAM, and states on disk that are
// replaced. Every state comes back bit by bit, within the memory and the disk granted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "faulty_file_system.h"
#include "mpi_main.h"
#include "schedule/double_sweep.h"
#include "schedule/mixed.h"
#include "schedule/multistage.h"
#include "schedule/uneven.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kMostSteps = 60;
const std::int64_t kLengths[] = {0, 1, 2, 3, 4, 5, 6, 17, 60};

class NestedSchedules : public testing::Test {
 protected:
  NestedSchedules()
      : model_(MPI_COMM_WORLD, counts()),
        tape_model_(MPI_COMM_WORLD, counts(), true),
        small_model_(MPI_COMM_WORLD, Counts{1, 0, 0, 3, 0}, true),
        reference_(model_, kMostSteps),
        tape_reference_(tape_model_, kMostSteps),
        small_reference_(small_model_, kMostSteps) {}

  static Counts counts() {
    const auto r = static_cast<std::size_t>(rank());
    return Counts{3 + 2 * r, 2 + r, 1 + 3 * r, 13 + 5 * r, 7 + r};
  }

  static void prepare(RunHandle& run, CoupledModel& model, const std::string& schedule,
                      std::int64_t memory) {
    EXPECT_EQ(model.add_fields(run), ANADROME_OK) << anadrome_last_error();
    run.set("schedule", schedule);
    run.set("memory", std::to_string(memory) + "B");
  }

  static void expect_exact(const RunHandle& run, const Outcome& outcome, std::int64_t advances) {
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
    const anadrome_stats stats = run.statistics();
    EXPECT_EQ(stats.forward_steps_taken, advances);
    EXPECT_EQ(stats.forward_steps_planned, advances);
    EXPECT_EQ(stats.forward_steps_remaining, 0);
    EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
  }

  // With a tape of `tape_slots` slots, in room for `slots` states.
  static void sweep_mixed(CoupledModel& model, const Reference& reference, std::int64_t slots,
                          std::int64_t tape_slots) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model, "mixed", slots * least_memory(model, "revolve"));
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
  CoupledModel small_model_;  ///< with a tape of several states' size
  const Reference reference_, tape_reference_, small_reference_;
};

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

// Steps that get dearer and dearer; ranks do not agree on how dear.
std::vector<double> rising_costs(std::int64_t steps) {
  std::vector<double> seconds;
  for (std::int64_t k = 0; k < steps; ++k) {
    seconds.push_back(static_cast<double>(k + 1) * (rank() == ranks() - 1 ? 1.0 : 0.5));
  }
  return seconds;
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
        EXPECT_EQ(cost, anadrome::schedule::uneven_cost(uneven));
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

// Whatever the disk does on one rank: the exact states, or the same error on all.
TEST_F(NestedSchedules, OverlappedBearsAFailingDisk) {
  const std::int64_t memory = 3 * least_memory(model_, "overlapped") + 41 * 9 * 1024;
  std::int64_t errors = 0;
  for (const auto& [operation, fault] :
       {std::pair{Operation::kWrite, Fault::kIoError}, std::pair{Operation::kRead, Fault::kIoError},
        std::pair{Operation::kRead, Fault::kFlippedBit}}) {
    for (const std::int64_t at : {1, 2, 5}) {
      RunHandle run(MPI_COMM_WORLD);
      prepare(run, model_, "overlapped", memory);
      run.set("direct", "off");
      SweepDriver driver(run, model_, reference_);
      FaultyFileSystem files;
      if (rank() == 0) files.arm(operation, at, fault, true);
      const Outcome outcome = driver.sweep(40);
      EXPECT_TRUE(outcome.exact);
      EXPECT_TRUE(outcome.done || outcome.status != ANADROME_OK);
      EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, outcome.status)) << outcome.message;
      errors += outcome.done ? 0 : 1;
      files.disarm();
      EXPECT_TRUE(driver.sweep(40).exact) << "the run goes on with a new sweep";
    }
  }
  EXPECT_GT(errors, 0);
}

constexpr std::int64_t kDoubleTable = std::int64_t{1} << 20;  // of memory, where n is not known

// What `double` did with an interval that was given: the advances of its planner.
std::int64_t double_steps(std::int64_t steps, std::int64_t interval, std::int64_t units,
                          std::int64_t tape_units) {
  namespace schedule = anadrome::schedule;
  const bool tape = tape_units > 0;
  schedule::Segment all;
  all.last = tape ? steps : steps + 1;
  const schedule::DoubleMemory memory{units, tape_units};
  interval = std::clamp<std::int64_t>(all.last, 1, interval);
  schedule::DoublePlanner planner(schedule::double_sweep_within(all.last, 0, interval, memory));
  return static_cast<std::int64_t>(planner.advances(all)) + (tape ? steps : 0);
}

TEST_F(NestedSchedules, DoubleTakesTheStepsOfItsLoops) {
  const auto bytes = static_cast<std::int64_t>(small_model_.state_bytes());
  const std::tuple<CoupledModel*, const Reference*, std::int64_t> models[] = {
      {&model_, &reference_, 0},
      {&tape_model_, &tape_reference_, 1},
      {&small_model_, &small_reference_, (24 + bytes - 1) / bytes}};
  for (const auto& [model, reference, tape_slots] : models) {
    const std::int64_t least = least_memory(*model, "double");
    for (const std::int64_t blocks : {2, 5, 13}) {
      for (const std::int64_t interval : {2, 7}) {
        RunHandle run(MPI_COMM_WORLD);
        prepare(run, *model, "double", blocks * least + 64 * 64);
        run.set("interval", std::to_string(interval));
        for (const std::int64_t steps : {0, 1, 5, 17, 60}) {
          SCOPED_TRACE(std::to_string(steps) + " steps, " + std::to_string(blocks) +
                       " blocks, interval " + std::to_string(interval) + ", tapes of " +
                       std::to_string(tape_slots));
          SweepDriver driver(run, *model, *reference);
          const Outcome outcome = driver.sweep(steps);
          EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, outcome.status));
          if (outcome.status == ANADROME_ERR_MEMORY) {
            const std::int64_t longest =
                anadrome::schedule::longest_double_interval({blocks - 1, tape_slots});
            EXPECT_LT(longest, std::min(interval, steps + 1)) << outcome.message;
            continue;
          }
          const std::int64_t units = run.statistics().checkpoint_slots;
          expect_exact(run, outcome, double_steps(steps, interval, units, tape_slots));
          EXPECT_TRUE(steps != 17 || driver.sweep_again().exact);
        }
      }
    }
  }
}

TEST_F(NestedSchedules, DoubleFindsItsIntervalWhetherOrNotItKnowsTheEnd) {
  for (const bool tape : {false, true}) {
    CoupledModel& model = tape ? tape_model_ : model_;
    const Reference& reference = tape ? tape_reference_ : reference_;
    for (const std::int64_t blocks : {3, 9}) {
      for (const bool unknown : {false, true}) {
        RunHandle run(MPI_COMM_WORLD);
        prepare(run, model, "double", blocks * least_memory(model, "double") + kDoubleTable);
        for (const std::int64_t steps : {0, 1, 5, 17, 60}) {
          SCOPED_TRACE(std::to_string(steps) + " steps, " + std::to_string(blocks) + " blocks" +
                       (unknown ? ", unknown" : "") + (tape ? ", tape" : ""));
          SweepDriver driver(run, model, reference);
          const Outcome outcome = driver.sweep(steps, unknown);
          expect_exact(run, outcome, outcome.advances);
        }
      }
    }
  }
}

TEST_F(NestedSchedules, DoubleMakesIntervalsLongerWhereTheDiskIsSmall) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_, "double", 8 * least_memory(model_, "double"));
  run.set("anchors", "5");
  SweepDriver driver(run, model_, reference_);
  const Outcome outcome = driver.sweep(kMostSteps);
  expect_exact(run, outcome, outcome.advances);
  EXPECT_GE(run.statistics().interval, (kMostSteps + 1 - 4 + 3) / 4);
  run.set("anchors", "2");
  EXPECT_EQ(anadrome_begin(run, kMostSteps), ANADROME_ERR_NO_SPACE);
  EXPECT_NE(std::string(anadrome_last_error()).find("at a time"), std::string::npos)
      << anadrome_last_error();
}

TEST_F(NestedSchedules, DoubleSaysThatAnIntervalIsTooLong) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_, "double", 4 * least_memory(model_, "double"));
  run.set("interval", "50");
  EXPECT_EQ(anadrome_begin(run, kMostSteps), ANADROME_ERR_MEMORY);
  EXPECT_NE(std::string(anadrome_last_error()).find("shorter interval"), std::string::npos)
      << anadrome_last_error();
}

TEST_F(NestedSchedules, DoubleBearsAFailingDisk) {
  std::int64_t made_good = 0;
  for (const auto& [operation, fault] :
       {std::pair{Operation::kWrite, Fault::kIoError}, std::pair{Operation::kRead, Fault::kIoError},
        std::pair{Operation::kRead, Fault::kFlippedBit}}) {
    for (const std::int64_t at : {1, 2, 5}) {
      RunHandle run(MPI_COMM_WORLD);
      prepare(run, model_, "double", 9 * least_memory(model_, "double"));
      run.set("direct", "off");
      run.set("interval", "5");
      SweepDriver driver(run, model_, reference_);
      FaultyFileSystem files;
      if (rank() == 0) files.arm(operation, at, fault, true);
      const Outcome outcome = driver.sweep(40);
      EXPECT_TRUE(outcome.exact);
      EXPECT_TRUE(outcome.done || outcome.status != ANADROME_OK);
      EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, outcome.status)) << outcome.message;
      made_good += outcome.done ? run.statistics().anchors_lost : 0;
      files.disarm();
      EXPECT_TRUE(driver.sweep(40).exact) << "the run goes on with a new sweep";
    }
  }
  EXPECT_GT(made_good, 0);
}

// The first sweep measures what the next ones plan from; then a rewind, and whatever the disk does.
TEST_F(NestedSchedules, OffloadPlansFromTheSweepBefore) {
  for (const bool tape : {false, true}) {
    for (const bool given : {false, true}) {
      CoupledModel& model = tape ? tape_model_ : model_;
      const Reference& reference = tape ? tape_reference_ : reference_;
      RunHandle run(MPI_COMM_WORLD);
      prepare(run, model, "offload", 4 * least_memory(model, "offload") + 42 * 17 * 1024);
      run.set("direct", "off");
      const std::vector<double> seconds = rising_costs(40);
      if (given) anadrome_set_step_costs(run, 40, seconds.data(), nullptr);
      SweepDriver driver(run, model, reference);
      std::int64_t longest = 0;
      driver.before_action = [&](const anadrome_action& action) {
        const bool first_time = action.kind == ANADROME_ADVANCE && action.again == 0;
        if (first_time) longest = std::max(longest, action.last - action.first);
      };
      Outcome outcome = driver.sweep(40);
      expect_exact(run, outcome, outcome.advances);
      EXPECT_EQ(longest, 1) << "each step is measured";
      outcome = driver.sweep(40);
      expect_exact(run, outcome, outcome.advances);
      EXPECT_STREQ(run.statistics().schedule, "offload");
      const std::int64_t advances = outcome.advances;
      outcome = driver.sweep_again();
      expect_exact(run, outcome, advances + outcome.advances);
      FaultyFileSystem files;
      for (const bool lasting : {false, true}) {
        if (rank() == 0) files.arm(Operation::kRead, 1, Fault::kIoError, lasting);
        outcome = driver.sweep(40);
        EXPECT_TRUE(outcome.exact);
        EXPECT_TRUE(outcome.done || outcome.status == ANADROME_ERR_IO) << outcome.message;
        EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, outcome.status)) << outcome.message;
        files.disarm();
      }
      EXPECT_TRUE(driver.sweep(40).exact) << "the run goes on with a new sweep";
    }
  }
}

class ReplacedStates : public NestedSchedules,
                       public testing::WithParamInterface<std::tuple<const char*, const char*>> {
 protected:
  // The planner's table is part of the memory.
  static std::int64_t table_bytes(const std::string& schedule, std::int64_t steps, bool few) {
    if (schedule == "overlapped") return (steps + 1) * 9 * 1024;
    if (schedule == "offload") return (steps + 2) * 17 * 1024;
    return (few ? 72 : 8) * 1024;
  }
};

TEST_P(ReplacedStates, ComeBackFromDisk) {
  const auto& [schedule, transport] = GetParam();
  std::int64_t written = 0, read = 0;
  for (const bool tape : {false, true}) {
    CoupledModel& model = tape ? tape_model_ : model_;
    const Reference& reference = tape ? tape_reference_ : reference_;
    const std::int64_t least = least_memory(model, schedule);
    for (const std::int64_t blocks : {1, 2, 3, 5}) {
      const std::string few = std::to_string(400 + 60 * ranks()) + "KiB";  // a handful of states
      for (const std::string& disk : {std::string("unlimited"), few}) {
        RunHandle run(MPI_COMM_WORLD);
        prepare(run, model, schedule, blocks * least);
        run.set("transport", transport);
        run.set("disk", disk);
        for (const std::int64_t steps : kLengths) {
          // On the caller's thread every transfer is a meeting of all ranks.
          if (transport == std::string("mpio") && ranks() > 1 && steps > 17) continue;
          SCOPED_TRACE(std::to_string(steps) + " steps, " + std::to_string(blocks) +
                       " blocks, disk " + disk + (tape ? ", tape" : ""));
          const std::int64_t table = table_bytes(schedule, steps, disk == few);
          run.set("memory", std::to_string(blocks * least + table) + "B");
          SweepDriver driver(run, model, reference);
          Outcome outcome = driver.sweep(steps);
          expect_exact(run, outcome, outcome.advances);
          written += run.statistics().bytes_written;
          read += run.statistics().bytes_read;
          if (steps != 17) continue;
          const std::int64_t advances = outcome.advances;
          outcome = driver.sweep_again();
          expect_exact(run, outcome, advances + outcome.advances);
        }
      }
    }
  }
  EXPECT_GT(written, 0);
  const bool plans_for_the_disk =
      schedule == std::string("disk_revolve") || schedule == std::string("hrevolve");
  EXPECT_TRUE(read > 0 || plans_for_the_disk) << "costs decide whether it pays";
}

std::string name_of(const testing::TestParamInfo<std::tuple<const char*, const char*>>& info) {
  return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(All, ReplacedStates,
                         testing::Combine(testing::Values("disk_revolve", "hrevolve", "multistage",
                                                          "overlapped", "offload"),
                                          testing::Values("direct", "mpio")),
                         name_of);

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Schedules that place states on disk by a plan: replaced, at equal intervals, from measured costs.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "nested_schedules.h"
#include "schedule/double_sweep.h"

namespace {

using namespace anadrome::test;

TEST_F(NestedSchedules, OverlappedBearsAFailingDisk) {
  const std::int64_t memory = 3 * least_memory(model_, "overlapped") + 41 * 9 * 1024;
  EXPECT_GT(sweep_on_failing_disks("overlapped", memory, [](RunHandle&) {}).errors, 0);
}

// Those of a sweep of kMostSteps.
std::int64_t revolve_advances(std::int64_t slots) {
  return static_cast<std::int64_t>(anadrome::schedule::extra_advances(kMostSteps + 1, slots));
}

// The disk of one rank takes a first segment, and no more.
TEST_F(NestedSchedules, CostNoMoreThanRevolveWhereOneDiskIsFull) {
  int refusals = 0;
  for (const char* schedule :
       {"multistage", "double", "hrevolve", "disk_revolve", "overlapped", "async"}) {
    for (const std::int64_t blocks : {2, 3, 6}) {
      for (const std::int64_t at : {1, 3}) {
        const bool list = std::string(schedule) == "overlapped";
        RunHandle run(MPI_COMM_WORLD);
        const std::int64_t tables = list ? 61 * 9 * 1024 : 61 * 64;
        prepare(run, model_, schedule, blocks * least_memory(model_, schedule) + tables);
        run.set("layout", "rank");
        run.set("warnings", "off");
        if (std::string(schedule) == "async") run.set("interval", "2");
        SweepDriver driver(run, model_, reference_);
        FaultyFileSystem files;
        if (rank() == ranks() - 1) files.arm(Operation::kAllocate, at, Fault::kNoSpace, true);
        const Outcome outcome = driver.sweep(kMostSteps);
        int refused = files.hit() ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &refused, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        refusals += refused;
        EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
        const std::int64_t slots = run.statistics().checkpoint_slots;
        const std::int64_t all = revolve_advances(list ? slots : std::max(slots, blocks));
        SCOPED_TRACE(std::string(schedule) + ", " + std::to_string(slots) + " slots, allocation " +
                     std::to_string(at));
        EXPECT_TRUE(refused == 0 || outcome.advances <= all) << outcome.advances << " for " << all;
        files.disarm();
      }
    }
  }
  EXPECT_GT(refusals, 18);
}

// No file can be made, on no rank and for either transport: what is asked for has no place.
TEST_F(NestedSchedules, OverlappedDoesWithoutAPlaceOnDisk) {
  for (const char* transport : {"direct", "mpio"}) {
    SCOPED_TRACE(transport);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model_, "overlapped", 2 * least_memory(model_, "overlapped") + 61 * 9 * 1024);
    run.set("transport", transport);
    run.set("warnings", "off");
    SweepDriver driver(run, model_, reference_);
    FaultyFileSystem files;
    files.arm(Operation::kAllocate, 1, Fault::kNoSpace, true);
    const Outcome outcome = driver.sweep(kMostSteps);
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
    EXPECT_EQ(outcome.advances, revolve_advances(run.statistics().checkpoint_slots));
    files.disarm();
    EXPECT_TRUE(driver.sweep(kMostSteps).exact) << "the run goes on with a new sweep";
  }
}

constexpr std::int64_t kDoubleTable = std::int64_t{1} << 20;  // of memory, where n is not known

// The advances of `double` with an interval that was given: those of its planner.
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
  EXPECT_GE(run.statistics().anchors, 2);
  EXPECT_LE(run.statistics().anchors, 5);
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

TEST_F(NestedSchedules, DoubleSaysThatAnIntervalIsTooLongForSoManyCheckpoints) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_, "double", 40 * least_memory(model_, "double"));
  run.set("interval", "50");
  run.set("checkpoints", "4");
  EXPECT_EQ(anadrome_begin(run, kMostSteps), ANADROME_ERR_ARGUMENT);
  EXPECT_NE(std::string(anadrome_last_error()).find("raise checkpoints"), std::string::npos)
      << anadrome_last_error();
}

TEST_F(NestedSchedules, DoubleBearsAFailingDisk) {
  const auto set = [](RunHandle& run) { run.set("interval", "5"); };
  const std::int64_t memory = 9 * least_memory(model_, "double");
  EXPECT_GE(sweep_on_failing_disks("double", memory, set).finished, 3) << "where it takes nothing";
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

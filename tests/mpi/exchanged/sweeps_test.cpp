// SPDX-License-Identifier: BSD-2-Clause
// Exchanged fields, alone and beside fields of the other kinds: every schedule gives back every
// state bit by bit, with states that are handed over as well as with small ones that are copied,
// down to the least memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

struct Shape {
  const char* name;
  Counts (*counts)(int rank, int ranks);
  unsigned exchanged;
  bool tape = false;
  bool large = false;  ///< 1 MiB or more on some rank
};

const Shape kShapes[] = {
    {"BesidePlainAndPackedFields",
     [](int rank, int) {
       const auto r = static_cast<std::size_t>(rank);
       return Counts{3 + 2 * r, 2 + r, 1 + 3 * r, 13 + 5 * r, 7 + r};
     },
     kFloat32s + kInt64s},
    {"BesideATape",
     [](int, int) {
       return Counts{0, 2, 1, 0, 3};
     },
     kComplexes, true},
    {"LargeStates",
     [](int rank, int) {
       const auto r = static_cast<std::size_t>(rank);
       return Counts{0, 0, rank == 0 ? (std::size_t{1} << 17) + 5 : 1000 * r, 100, 9};
     },
     kInt64s + kBytes, false, true},
    {"LargeStatesBesideATape",
     [](int rank, int ranks) {
       return rank == ranks - 1 ? Counts{std::size_t{1} << 18, 1, 0, 0, 3} : Counts{0, 2, 0, 0, 0};
     },
     kFloat32s, true, true}};

class ExchangedFields : public testing::TestWithParam<Shape> {
 protected:
  ExchangedFields()
      : model_(MPI_COMM_WORLD, GetParam().counts(rank(), ranks()), GetParam().tape),
        reference_(model_, most_steps()) {
    model_.exchanged = GetParam().exchanged;
  }

  static bool large() { return GetParam().large; }
  static std::int64_t most_steps() { return large() ? 8 : 17; }

  void expect_exact(const RunHandle& run, const Outcome& outcome, std::int64_t advances) {
    anadrome::test::expect_exact(run, outcome, advances);
    EXPECT_TRUE(!large() || run.statistics().states_per_write == 1);
  }
  void expect_exact_sweep(RunHandle& run, SweepDriver& driver, bool unknown) {
    const Outcome outcome = driver.sweep(most_steps(), unknown);
    expect_exact(run, outcome, outcome.advances);
  }

  // Sweeps of one run, short and long, with steps known and unknown, and each back once more.
  void sweep_all_lengths(RunHandle& run) {
    for (const std::int64_t steps : {std::int64_t{0}, std::int64_t{1}, most_steps()}) {
      for (const bool unknown : {false, true}) {
        if (large() && steps < most_steps()) continue;  // for the time they take
        SCOPED_TRACE(std::to_string(steps) + (unknown ? " unknown" : " known") + " steps");
        SweepDriver driver(run, model_, reference_);
        Outcome outcome = driver.sweep(steps, unknown);
        expect_exact(run, outcome, outcome.advances);
        const std::int64_t advances = outcome.advances;
        outcome = driver.sweep_again();
        expect_exact(run, outcome, advances + outcome.advances);
      }
    }
  }

  // Memory for so many blocks of `async`, two of which are the live state's.
  RunHandle prepared(const std::string& schedule, std::int64_t blocks,
                     const RunOptions& more = {}) {
    return {model_, {{"schedule", schedule}, {"memory", memory_of(schedule, blocks)}}, more};
  }
  std::string memory_of(const std::string& schedule, std::int64_t blocks) {
    return std::to_string((least_memory(model_, schedule) * blocks + 2) / 3) + "B";
  }

  CoupledModel model_;
  const Reference reference_;
};

TEST_P(ExchangedFields, ComeBackFromMemory) {
  struct Case {
    const char* schedule;
    std::int64_t blocks;
  };
  for (const auto& [schedule, blocks] : {Case{"store_all", most_steps() + 3},
                                         {"store_all", 70},
                                         {"revolve", 3},
                                         {"revolve", 5},
                                         {"revolve", 200}}) {
    if (large() && blocks == 200) continue;
    SCOPED_TRACE(std::string(schedule) + ", " + std::to_string(blocks) + " blocks");
    RunHandle run = prepared(schedule, blocks);
    sweep_all_lengths(run);
  }
}

// Each layout and transport once. Blocks that are still being written to a slow disk are what the
// caller reads, and what it waits for.
TEST_P(ExchangedFields, ComeBackFromDisk) {
  struct Case {
    const char *interval, *transport, *layout;
    std::int64_t blocks;
    const char* keep;
    bool slow = false;
  };
  const char* const mpio = kTransports.back();
  for (const Case& c : {Case{"1", "auto", "shared", 3, "off"},
                        {"4", "buffered", "node", 6, "on"},
                        {"7", "auto", "rank", 4, "on"},
                        {"auto", mpio, "shared", 4, "off"},
                        {"4", mpio, "node", 3, "on"},
                        {"1", mpio, "rank", 6, "off"},
                        {"2", "auto", "shared", 4, "off", true}}) {
    SCOPED_TRACE(std::string("interval ") + c.interval + ", " + c.transport + ", " + c.layout);
    const char* const limit = c.slow ? (large() ? "300MB/s" : "10MB/s") : "none";
    RunHandle run = prepared("async", c.blocks,
                             {{"name", std::string("exchanged-") + c.transport + c.layout},
                              {"interval", c.interval},
                              {"transport", c.transport},
                              {"layout", c.layout},
                              {"keep", c.keep},
                              {"bandwidth_limit", limit}});
    sweep_all_lengths(run);
    EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  }
}

// From one way of being live to the other, and back.
TEST_P(ExchangedFields, ComeBackInSweepsWithOtherOptions) {
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_EQ(model_.add_fields(run), ANADROME_OK);
  const char* schedules[] = {"async", "revolve", "store_all", "async", "auto"};
  for (std::size_t i = 0; i < 7; ++i) {
    SCOPED_TRACE(i);
    const std::string schedule = schedules[i % 5];
    run.set("schedule", schedule);
    run.set("interval", i % 2 == 0 ? "1" : "auto");
    const std::int64_t few = 3 + static_cast<std::int64_t>(i % 3);
    const std::int64_t blocks = schedule == "store_all" || i % 4 == 3 ? most_steps() + 9 : few;
    run.set("memory", memory_of("async", blocks));
    SweepDriver driver(run, model_, reference_);
    const Outcome outcome =
        driver.sweep(static_cast<std::int64_t>(i) * 7 % (most_steps() + 1), i % 3 == 2);
    expect_exact(run, outcome, outcome.advances);
  }
}

TEST_P(ExchangedFields, ComeBackAfterASweepWasAbandoned) {
  using Moment = bool (*)(const anadrome_action&, std::int64_t half);
  const Moment moments[] = {
      [](const anadrome_action&, std::int64_t) { return true; },
      [](const anadrome_action& a, std::int64_t half) { return a.first == half; },
      [](const anadrome_action& a, std::int64_t) { return a.kind == ANADROME_TURN; },
      [](const anadrome_action& a, std::int64_t) { return a.kind == ANADROME_ADJOINT; },
      [](const anadrome_action& a, std::int64_t half) {
        return a.kind == ANADROME_ADJOINT && a.first == half;
      },
      [](const anadrome_action& a, std::int64_t) { return a.again != 0; }};
  for (const char* schedule : {"store_all", "async"}) {
    const bool unknown = std::string(schedule) == "async";
    SCOPED_TRACE(schedule);
    RunHandle run = prepared(schedule, unknown ? 5 : most_steps() + 4, {{"interval", "1"}});
    SweepDriver driver(run, model_, reference_);
    for (const Moment& when : moments) {
      const Outcome left = driver.begin_and_stop(
          most_steps(), unknown,
          [&](const anadrome_action& action) { return when(action, most_steps() / 2); });
      EXPECT_EQ(left.status, ANADROME_OK) << left.message;
      EXPECT_TRUE(left.exact);
    }
    // After begin alone, and in the middle of a second reverse sweep.
    EXPECT_EQ(anadrome_begin(run, most_steps()), ANADROME_OK) << anadrome_last_error();
    expect_exact_sweep(run, driver, unknown);
    EXPECT_EQ(anadrome_rewind(run), ANADROME_OK);
    anadrome_action action;
    EXPECT_EQ(anadrome_next(run, &action), ANADROME_OK);
    expect_exact_sweep(run, driver, unknown);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ExchangedFields, testing::ValuesIn(kShapes),
                         [](const auto& shape) { return std::string(shape.param.name); });

}  // namespace

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

constexpr std::int64_t kMostSteps = 40;

struct Shape {
  const char* name;
  Counts (*counts)(int rank, int ranks);
  unsigned exchanged;
  bool tape = false;
  bool large = false;  ///< 1 MiB or more on some rank
  std::size_t number() const;
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

std::size_t Shape::number() const {
  std::size_t n = 0;
  while (kShapes[n].counts != counts) ++n;
  return n;
}

class ExchangedFields : public testing::TestWithParam<Shape> {
 protected:
  ExchangedFields()
      : model_(MPI_COMM_WORLD, GetParam().counts(rank(), ranks()), GetParam().tape),
        reference_(model_, most_steps()) {
    model_.exchanged = GetParam().exchanged;
  }

  static bool large() { return GetParam().large; }
  static bool fewer() { return large() || ranks() > 2; }  ///< cases, for the time they take
  static std::int64_t most_steps() { return large() ? 8 : kMostSteps; }
  static std::vector<std::int64_t> lengths() {
    if (large()) return {8};
    if (fewer()) return {0, 1, 17};
    return {0, 1, 2, 17, kMostSteps};
  }

  void expect_exact(const RunHandle& run, const Outcome& outcome, std::int64_t advances) {
    anadrome::test::expect_exact(run, outcome, advances);
    EXPECT_TRUE(!large() || run.statistics().states_per_write == 1);
  }

  // Sweeps of one run, of each length, with steps known and unknown, and each back once more.
  void sweep_all_lengths(RunHandle& run, bool rewind) {
    for (const std::int64_t steps : lengths()) {
      for (const bool unknown : {false, true}) {
        SCOPED_TRACE(std::to_string(steps) + (unknown ? " unknown" : " known") + " steps");
        SweepDriver driver(run, model_, reference_);
        Outcome outcome = driver.sweep(steps, unknown);
        expect_exact(run, outcome, outcome.advances);
        if (!rewind) continue;
        const std::int64_t advances = outcome.advances;
        outcome = driver.sweep_again();
        expect_exact(run, outcome, advances + outcome.advances);
      }
    }
  }

  RunHandle prepared(const std::string& schedule, std::int64_t memory,
                     const RunOptions& more = {}) {
    return {model_, {{"schedule", schedule}, {"memory", std::to_string(memory) + "B"}}, more};
  }

  void expect_exact_sweep(RunHandle& run, SweepDriver& driver, bool unknown) {
    const Outcome outcome = driver.sweep(most_steps(), unknown);
    expect_exact(run, outcome, outcome.advances);
  }

  // So much for so many blocks, two of which are the live state's.
  std::int64_t memory_of(const std::string& schedule, std::int64_t blocks) {
    return (least_memory(model_, schedule) * blocks + 2) / 3;
  }

  CoupledModel model_;
  const Reference reference_;
};

TEST_P(ExchangedFields, ComeBackFromStoreAll) {
  for (const std::int64_t more : {3, 70}) {
    RunHandle run = prepared("store_all", memory_of("store_all", most_steps() + more));
    sweep_all_lengths(run, true);
  }
}

TEST_P(ExchangedFields, ComeBackFromRevolve) {
  for (const std::int64_t blocks : {3, 4, 5, 9, 200}) {
    if (large() && blocks > 5) continue;
    SCOPED_TRACE(std::to_string(blocks) + " blocks");
    RunHandle run = prepared("revolve", memory_of("revolve", blocks));
    sweep_all_lengths(run, blocks < 5);
  }
}

TEST_P(ExchangedFields, ComeBackFromDisk) {
  const char* layouts[] = {"shared", "node", "rank"};
  std::size_t number = 0;
  for (const char* interval : {"1", "4", "7", "auto"}) {
    for (const char* transport : kTransports) {
      for (const std::int64_t blocks : {3, 4, 6}) {
        // With each interval, the combinations meet other layouts and ways to end. Each shape goes
        // through a part of them, all shapes together through all.
        const std::size_t i = number++;
        if ((i + i / 3 + GetParam().number()) % (fewer() ? 6 : 4) != 0) continue;
        const char* layout = layouts[(i + i / 6) % 3];
        const bool keep = (i + i / 4) % 2 == 1;
        const bool buffered = i % 2 == 1 && transport == kTransports.front();
        SCOPED_TRACE(std::string("interval ") + interval + ", " + transport + ", layout " + layout +
                     ", " + std::to_string(blocks) + " blocks" + (keep ? ", keep" : ""));
        RunHandle run = prepared("async", memory_of("async", blocks),
                                 {{"name", "exchanged" + std::to_string(i)},
                                  {"interval", interval},
                                  {"transport", buffered ? "buffered" : transport},
                                  {"layout", layout},
                                  {"keep", keep ? "on" : "off"}});
        sweep_all_lengths(run, blocks != 4);
        EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
      }
    }
  }
}

// Blocks that are still being written are what the caller reads, and what it waits for.
TEST_P(ExchangedFields, ComeBackFromASlowDisk) {
  for (const std::int64_t blocks : {3, 4, 6}) {
    for (const bool unknown : {false, true}) {
      if (fewer() && (blocks > 4 || unknown == (blocks % 2 == 0))) continue;
      SCOPED_TRACE(std::to_string(blocks) + " blocks" + (unknown ? " unknown" : ""));
      RunHandle run = prepared("async", memory_of("async", blocks),
                               {{"interval", blocks == 4 ? "2" : "1"},
                                {"bandwidth_limit", large() ? "300MB/s" : "10MB/s"}});
      SweepDriver driver(run, model_, reference_);
      Outcome outcome = driver.sweep(large() ? 8 : 17, unknown);
      const std::int64_t advances = outcome.advances;
      expect_exact(run, outcome, advances);
      outcome = driver.sweep_again();
      expect_exact(run, outcome, advances + outcome.advances);
    }
  }
}

// From one way of being live to the other, and back.
TEST_P(ExchangedFields, ComeBackInSweepsWithOtherOptions) {
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_EQ(model_.add_fields(run), ANADROME_OK);
  const char* schedules[] = {"async", "revolve", "store_all", "async", "auto"};
  for (std::size_t i = 0; i < (fewer() ? 7U : 15U); ++i) {
    SCOPED_TRACE(i);
    const std::string schedule = schedules[i % 5];
    run.set("schedule", schedule);
    run.set("interval", i % 2 == 0 ? "1" : "auto");
    const std::int64_t few = 3 + static_cast<std::int64_t>(i % 3);
    const std::int64_t blocks = schedule == "store_all" || i % 4 == 3 ? most_steps() + 9 : few;
    run.set("memory", std::to_string(memory_of("async", blocks)) + "B");
    SweepDriver driver(run, model_, reference_);
    const Outcome outcome =
        driver.sweep(static_cast<std::int64_t>(i) * 7 % (most_steps() + 1), i % 3 == 2);
    expect_exact(run, outcome, outcome.advances);
  }
}

TEST_P(ExchangedFields, ComeBackAfterASweepWasAbandoned) {
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    for (const bool unknown : {false, true}) {
      if (fewer() && unknown == (GetParam().number() % 2 == 0)) continue;
      if (fewer() && std::string(schedule) == "revolve") continue;
      SCOPED_TRACE(std::string(schedule) + (unknown ? " unknown" : ""));
      const std::int64_t blocks = std::string(schedule) == "store_all" ? most_steps() + 4 : 5;
      RunHandle run = prepared(schedule, memory_of("async", blocks), {{"interval", "1"}});
      SweepDriver driver(run, model_, reference_);
      int moments = 0;
      const auto leave = [&](bool (*when)(const anadrome_action&, std::int64_t half)) {
        const Outcome left = driver.begin_and_stop(
            most_steps(), unknown,
            [&](const anadrome_action& action) { return when(action, most_steps() / 2); });
        EXPECT_EQ(left.status, ANADROME_OK) << left.message;
        EXPECT_TRUE(left.exact);
        ++moments;
        if (moments % 2 == 0) expect_exact_sweep(run, driver, unknown);
      };
      leave([](const anadrome_action&, std::int64_t) { return true; });
      leave([](const anadrome_action& a, std::int64_t half) { return a.first == half; });
      leave([](const anadrome_action& a, std::int64_t) { return a.kind == ANADROME_TURN; });
      leave([](const anadrome_action& a, std::int64_t) { return a.kind == ANADROME_ADJOINT; });
      leave([](const anadrome_action& a, std::int64_t half) {
        return a.kind == ANADROME_ADJOINT && a.first == half;
      });
      leave([](const anadrome_action& a, std::int64_t) { return a.again != 0; });
      // After begin alone, and in the middle of a second reverse sweep.
      EXPECT_EQ(anadrome_begin(run, most_steps()), ANADROME_OK) << anadrome_last_error();
      expect_exact_sweep(run, driver, unknown);
      EXPECT_EQ(anadrome_rewind(run), ANADROME_OK);
      anadrome_action action;
      EXPECT_EQ(anadrome_next(run, &action), ANADROME_OK);
      expect_exact_sweep(run, driver, unknown);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ExchangedFields, testing::ValuesIn(kShapes),
                         [](const auto& shape) { return std::string(shape.param.name); });

}  // namespace

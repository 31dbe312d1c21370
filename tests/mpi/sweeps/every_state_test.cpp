// SPDX-License-Identifier: BSD-2-Clause
// Every schedule, with known and unknown steps, in much and in hardly any memory, gives back every
// state bit by bit, with the number of forward steps that the theory promises.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>

#include "mpi_main.h"
#include "schedule/words/revolve.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kMostSteps = 60;

// How fields and ranks share the state.
struct Shape {
  const char* name;
  Counts (*counts)(int rank, int ranks);
};

const Shape kShapes[] = {
    {"SeveralTypesAndCounts",
     [](int rank, int) {
       const auto r = static_cast<std::size_t>(rank);
       return Counts{3 + 2 * r, 2 + r, 1 + 3 * r, 13 + 5 * r, 7 + r};
     }},
    {"OneRankWithoutBytes",
     [](int rank, int ranks) {
       return rank == ranks / 2 && ranks > 1 ? Counts{} : Counts{5, 0, 2, 3, 11};
     }},
    {"OneRankWithAllBytes",
     [](int rank, int ranks) {
       return rank == ranks - 1 ? Counts{0, 3, 0, 1, 5} : Counts{};
     }},
    {"PagesOfBytes", [](int rank, int) {
       return Counts{2049, 0, 0, static_cast<std::size_t>(5000 * (rank + 1)), 4097};
     }}};

class EveryState : public testing::TestWithParam<std::tuple<Shape, bool>> {
 protected:
  EveryState()
      : shape_(std::get<0>(GetParam())),
        model_(MPI_COMM_WORLD, shape_.counts(rank(), ranks()), std::get<1>(GetParam())),
        reference_(model_, kMostSteps) {}

  // One sweep of each length; `slots` states (blocks, for async) fit into the memory.
  template <class Check>
  void sweep_all_lengths(RunHandle& run, const Check& check) {
    for (const std::int64_t steps : {0, 1, 2, 17, 60}) {
      for (const bool unknown : {false, true}) {
        SCOPED_TRACE(std::to_string(steps) + (unknown ? " unknown" : " known") + " steps");
        SweepDriver driver(run, model_, reference_);
        const Outcome outcome = driver.exact_sweep(steps, unknown);
        const anadrome_stats stats = run.statistics();
        EXPECT_EQ(stats.steps, steps);
        EXPECT_EQ(stats.adjoint_steps_taken, steps);
        EXPECT_EQ(stats.forward_steps_taken, outcome.advances);
        EXPECT_EQ(stats.forward_steps_planned, outcome.advances);
        EXPECT_EQ(stats.forward_steps_remaining, 0);
        EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
        EXPECT_EQ(stats.phase, ANADROME_PHASE_DONE);
        EXPECT_EQ(stats.ranks, ranks());
        EXPECT_EQ(stats.state_bytes, static_cast<std::int64_t>(model_.state_bytes()));
        check(steps, unknown, stats);
      }
    }
  }

  RunHandle prepared(const std::string& schedule, std::int64_t blocks,
                     const RunOptions& more = {}) {
    const std::int64_t bytes = blocks * least_memory(model_, schedule);
    return {model_, {{"schedule", schedule}, {"memory", std::to_string(bytes) + "B"}}, more};
  }

  // Steps beyond the first sweep that reversing from x_0 takes, TURN being step n.
  static std::int64_t revolve_advances(std::int64_t steps, std::int64_t slots, bool tape) {
    using anadrome::schedule::extra_advances_clamped;
    if (!tape) return extra_advances_clamped(steps + 1, slots);
    return steps == 0 ? 0 : extra_advances_clamped(steps, slots) + steps;
  }

  bool tape() const { return model_.has_tape(); }

  const Shape shape_;
  CoupledModel model_;
  const Reference reference_;
};

TEST_P(EveryState, ComesBackFromStoreAllInNForwardSteps) {
  RunHandle run = prepared("store_all", kMostSteps + 4);
  sweep_all_lengths(run, [&](std::int64_t steps, bool, const anadrome_stats& stats) {
    // Tapes are kept, if every rank has a state to keep one in the place of.
    EXPECT_EQ(stats.forward_steps_taken, steps);
    EXPECT_EQ(stats.bytes_written, 0);
  });
}

TEST_P(EveryState, ComesBackFromRevolveInTheFewestForwardSteps) {
  for (const std::int64_t slots : {1, 3, 70}) {
    SCOPED_TRACE(std::to_string(slots) + " slots");
    RunHandle run = prepared("revolve", slots);
    sweep_all_lengths(run, [&](std::int64_t steps, bool unknown, const anadrome_stats& stats) {
      if (unknown) {
        // Plenty of memory is cut into blocks of several states, with a little left over.
        EXPECT_TRUE(slots > 5 || stats.checkpoint_slots == slots) << stats.checkpoint_slots;
        EXPECT_GE(stats.forward_steps_taken,
                  revolve_advances(steps, stats.checkpoint_slots, tape()));
      } else {
        EXPECT_EQ(stats.forward_steps_taken, revolve_advances(steps, slots, tape()));
      }
      EXPECT_EQ(stats.bytes_written, 0);
      EXPECT_EQ(stats.direct_io, -1);
    });
  }
}

TEST_P(EveryState, ComesBackFromDisk) {
  using Case = std::pair<const char*, std::int64_t>;
  for (const auto& [interval, blocks] :
       {Case{"auto", 1}, {"auto", 5}, {"1", 2}, {"1", 70}, {"4", 3}}) {
    SCOPED_TRACE(std::string("interval ") + interval + ", " + std::to_string(blocks) + " blocks");
    RunHandle run = prepared("async", blocks, {{"interval", interval}});
    const bool every_step = std::string(interval) == "1";
    sweep_all_lengths(run, [&](std::int64_t steps, bool unknown, const anadrome_stats& stats) {
      if (blocks > 5) return;  // plenty: no disk is needed, and blocks hold many states
      if (!compresses()) {
        EXPECT_LE(stats.slots, blocks);
        EXPECT_TRUE(!unknown || stats.slots == blocks) << stats.slots;
      }
      if (steps < 17) return;
      // At least the anchors that do not fit into memory were written, and were read again. With
      // tapes in memory fewer of them pay.
      if (every_step && stats.state_bytes > 0 && !tape() && !compresses()) {
        EXPECT_GE(stats.anchors, steps - blocks);
        EXPECT_GE(stats.bytes_written, (steps - blocks - 1) * stats.state_bytes);
        EXPECT_GE(stats.bytes_read, (steps - 2 * blocks - 2) * stats.state_bytes);
      }
      EXPECT_GT(stats.disk_bytes_reserved_all_ranks, 0);
    });
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<Shape, bool>>& info) {
  return std::string(std::get<0>(info.param).name) + (std::get<1>(info.param) ? "AndATape" : "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryState,
                         testing::Combine(testing::ValuesIn(kShapes), testing::Values(false)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(ShapesWithTape, EveryState,
                         testing::Combine(testing::Values(kShapes[0], kShapes[3]),
                                          testing::Values(true)),
                         name_of);

// Many states of a few bytes share one block and one disk write. Exchanged ones have their live
// states in buffers beside the pool; the smaller memory holds few blocks.
TEST(SmallStates, ComeBackFromDiskManyToAWrite) {
  CoupledModel model(MPI_COMM_WORLD, Counts{0, 1, 1, 0, 0});  // 24 bytes
  model.couple_every = 64;
  const Reference reference(model, 20000);
  struct Case {
    const char *interval, *memory;
    std::int64_t steps;
    unsigned exchanged;
  };
  for (const Case& c : {Case{"3", "512KiB", 20000, kNoField},
                        {"1", "130KiB", 7000, kAllFields},
                        {"1", "512KiB", 20000, kInt64s}}) {
    model.exchanged = c.exchanged;
    for (const bool unknown : {false, true}) {
      SCOPED_TRACE(std::to_string(c.exchanged) + (unknown ? ", unknown steps" : ""));
      RunHandle run(model, {{"schedule", "async"}, {"interval", c.interval}, {"memory", c.memory}});
      SweepDriver driver(run, model, reference);
      driver.exact_sweep(c.steps, unknown);
      const anadrome_stats stats = run.statistics();
      EXPECT_EQ(stats.forward_steps_taken, stats.forward_steps_planned);
      EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
      EXPECT_GT(stats.states_per_write, 1);
      EXPECT_LT(stats.agreements, c.steps / 4) << "one for each block, none for each step";
      EXPECT_GE(stats.slots, 2 * stats.states_per_write);
      EXPECT_GT(stats.bytes_written, 0);
    }
  }
}

// A run without any bytes is of little use, but nothing in it is undefined.
TEST(EmptyStates, GoThroughEverySchedule) {
  CoupledModel model(MPI_COMM_WORLD, Counts{});
  const Reference reference(model, 17);
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    RunHandle run(model, {{"schedule", schedule}, {"interval", "2"}, {"memory", "4KiB"}});
    EXPECT_EQ(anadrome_add_field(run, "empty", ANADROME_ROLE_STATE, ANADROME_FLOAT64, nullptr, 0),
              ANADROME_OK);
    SweepDriver(run, model, reference).exact_sweep(17);
  }
}

}  // namespace

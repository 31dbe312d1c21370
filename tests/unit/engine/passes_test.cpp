// SPDX-License-Identifier: BSD-2-Clause
// Passes over a trajectory of a schedule that the test plays.
#include "engine/passes.h"

#include <gtest/gtest.h>

#include <array>

#include "desk.h"

namespace anadrome::engine {
namespace {

// After DONE of 100 steps with ten anchors, each of which takes as long to read as 100 steps.
struct Passed : Desk {
  explicit Passed(Ranks& ranks) : Desk(ranks, 64 << 10, 0) {
    options.set_environment("memory=1MiB layout=rank");
    played = &script("async", 100);
    played->list = schedule::AnchorList::of(10, {{0, 0, 10}});
    Agreement::Output agreed;
    agreed.largest = {1, 1, 100, 100};
    agreed.smallest = 1;
    notes.measured.take(agreed);
    sweep.passes.ready = true;
    sweep.phase = ANADROME_PHASE_DONE;
  }
  ~Passed() { keeper.abandon(); }

  ScriptedSweep* played;
  Passes passes{agreement, asked, play, notes.warnings, planning, keeper, decisions, report};
};

TEST(Passes, TakeTheStrideOfTheRankThatReadsTheMost) {
  std::array<std::int64_t, 2> strides{};
  const auto take = [&](double visit_of_rank_1) {
    ThreadRanks::run(2, [&](Ranks& ranks) {
      Passed desk(ranks);
      desk.context.notes.measured.add_visit(ranks.rank() == 0 ? 0.1 : visit_of_rank_1);
      desk.passes.begin(ANADROME_PASS_FORWARD, {});
      strides[static_cast<std::size_t>(ranks.rank())] = desk.played->pass.stride;
    });
  };
  take(0.1);
  EXPECT_GT(strides[0], 1);
  EXPECT_EQ(strides[0], strides[1]);
  take(1000);  // it reads while it visits
  EXPECT_EQ(strides, (std::array<std::int64_t, 2>{1, 1}));
}

TEST(Passes, AreOverWithARewind) {
  OneRank one;
  Passed desk(one.rank);
  desk.passes.begin(ANADROME_PASS_FORWARD, {});
  desk.passes.done();
  EXPECT_TRUE(desk.sweep.passes.on);
  desk.passes.rewind();
  EXPECT_FALSE(desk.sweep.passes.on) << "the summary would count its adjoints as a pass";
  EXPECT_EQ(desk.sweep.phase, ANADROME_PHASE_REVERSE);
}

}  // namespace
}  // namespace anadrome::engine

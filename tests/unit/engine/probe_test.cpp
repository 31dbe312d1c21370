// SPDX-License-Identifier: BSD-2-Clause
// Intervals that are reversed twice, by a schedule of which the test says what comes next.
#include "engine/verify/probe.h"

#include <gtest/gtest.h>

#include <cmath>

#include "desk.h"

namespace anadrome::engine {
namespace {

// At TURN after five anchors.
struct Probed : LoneDesk {
  Probed() : LoneDesk(kState) {
    options.memory = 16 * kState;
    options.set_environment("compress=round probe=on");
    add("lambda", ANADROME_ROLE_ADJOINT, adjoint);
    script("async", 100).marks = true;
    probe.begin();
    for (std::int64_t number = 0; number < 5; ++number) keep_anchor(number);
    sweep.phase = ANADROME_PHASE_REVERSE;
    probe.turn();
  }
  ~Probed() { keeper.abandon(); }
  void restore(std::int64_t number) {
    const schedule::Restore next = {anchor(number, number)};
    probe.before_restore(next);
    keeper.restore(next);
  }
  bool begins_again_after(std::int64_t number) {
    return probe.begins_again(schedule::Drop{anchor(number, number)});
  }

  std::vector<unsigned char> adjoint = {7};
  Probe probe{peers, asked, play, notes.warnings, keeper};
};

TEST(Probe, ReversesEachIntervalTwiceAndTheSecondTimeFromTheCallersAdjoint) {
  Probed desk;
  desk.restore(4);
  desk.adjoint[0] = 99;
  EXPECT_TRUE(desk.begins_again_after(4));
  EXPECT_EQ(desk.adjoint[0], 7);
  desk.adjoint[0] = 8;
  EXPECT_FALSE(desk.begins_again_after(4));
  desk.restore(3);
  EXPECT_EQ(desk.adjoint[0], 99) << "the trial goes on from its own";
  EXPECT_TRUE(desk.begins_again_after(3));
  EXPECT_EQ(desk.adjoint[0], 8);
}

// Its steps are adjoined again, from the anchor below.
TEST(Probe, GivesTheCallersAdjointBackWhereAnAnchorIsLostDuringATrial) {
  Probed desk;
  desk.restore(4);
  desk.adjoint[0] = 99;
  desk.restore(3);
  EXPECT_EQ(desk.adjoint[0], 7);
  EXPECT_FALSE(desk.sweep.checks.on_trial);
  EXPECT_FALSE(desk.begins_again_after(3)) << "there are no more trials";
}

TEST(Probe, TakesAToleranceBelowWhatTheGradientMayHave) {
  LoneDesk desk;
  desk.options.tolerance = 1e-3;
  desk.options.gradient_error = 1e-4;
  const auto next_where = [&](double stated) {
    desk.sweep.checks.gradient_error = stated;
    return Probe(desk.peers, desk.asked, desk.play, desk.notes.warnings, desk.keeper)
        .next_tolerance(2e-3);
  };
  EXPECT_DOUBLE_EQ(next_where(1e-2), 1e-3 * 1e-2 / std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(next_where(1e-6), 1e-3 * 1e2 / std::sqrt(3.0));
  for (const double stated : {1e-4, 4e-5, 0.0}) EXPECT_EQ(next_where(stated), 2e-3) << stated;
}

}  // namespace
}  // namespace anadrome::engine

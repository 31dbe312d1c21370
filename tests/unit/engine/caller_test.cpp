// SPDX-License-Identifier: BSD-2-Clause
// The actions that the caller is handed, and what is counted when they come back.
#include "engine/caller.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "desk.h"

namespace anadrome::engine {
namespace {

using schedule::Advance;
using Pieces = std::vector<Advance>;

struct Called : LoneDesk {
  // The pieces in which an advance is handed out, each done before the next.
  Pieces pieces(const Advance& advance) {
    Pieces handed;
    for (caller.hand_out(advance);;) {
      const anadrome_action& action = sweep.in_hand;
      EXPECT_EQ(action.kind, ANADROME_ADVANCE);
      handed.push_back({action.first, action.last, 0, action.record != 0, action.again != 0});
      step_to(action.last);
      for (const double now = now_seconds(); now_seconds() == now;) continue;  // it takes time
      caller.take_back();
      if (!caller.hand_out_rest()) return handed;
    }
  }
};

TEST(Caller, TakesAnAdvanceInOnePieceButForPredictions) {
  Called desk;
  desk.script();
  const Advance again = {0, 50, 0, false, true};
  EXPECT_EQ(desk.pieces(again), Pieces{again});
  desk.script();
  EXPECT_EQ(desk.pieces({0, 50, 0, true}),
            (Pieces{{0, 1}, {1, 6}, {6, 12}, {12, 25}, {25, 50, 0, true}}));
  EXPECT_EQ(desk.sweep.prediction.made_at, 50);
  EXPECT_EQ(desk.pieces({50, 100}), (Pieces{{50, 100}})) << "half of the steps are done";
  EXPECT_EQ(desk.sweep.advances, 100);
}

TEST(Caller, TakesOneStepAtATimeWithExchangedFields) {
  Called desk;
  desk.fields.add({"x", ANADROME_ROLE_STATE, ANADROME_BYTE, 8, true, nullptr, {}});
  desk.script();
  desk.caller.take_back();  // x_0
  EXPECT_EQ(desk.pieces({0, 3}), (Pieces{{0, 1}, {1, 2}, {2, 3}}));
  const LiveState& live = *desk.keeper.live();
  const auto is_written = [&](const auto& action) {
    desk.caller.hand_out(action);
    const void* const then = live.then(1);
    desk.caller.take_back();
    return live.now(1) == then;
  };
  EXPECT_TRUE(is_written(Advance{3, 4}));
  EXPECT_FALSE(is_written(schedule::Turn{4}));
}

TEST(Caller, StopsAtAStateThatIsAuditedAndLooksAtItAgain) {
  Called desk;
  desk.options.audit = Audit::kError;
  desk.script("revolve", 0);
  desk.sweep.resumed.phase = ANADROME_PHASE_FORWARD;  // without a preflight
  desk.caller.begin();
  EXPECT_EQ(desk.pieces({0, 20}), (Pieces{{0, 1}, {1, 19}, {19, 20}}));
  EXPECT_EQ(desk.pieces({0, 20, 0, false, true}),
            (Pieces{{0, 19, 0, false, true}, {19, 20, 0, false, true}}));
  EXPECT_EQ(desk.meeting.calls, std::vector<Call>{Call::kAudit});
}

TEST(Caller, HandsTheFirstStepsOutTwice) {
  Called desk;
  desk.script();
  desk.keeper.keep({{schedule::What::kState, schedule::kRamTier, 0, 0, {}}});
  desk.caller.begin();
  EXPECT_EQ(desk.pieces({0, 20}), (Pieces{{0, 1},
                                          {0, 1, 0, false, true},
                                          {1, 2},
                                          {0, 2, 0, false, true},
                                          {2, 6},
                                          {6, 12},
                                          {12, 19},
                                          {19, 20}}));
  EXPECT_EQ(desk.sweep.advances, 20) << "the second time does not count";
}

TEST(Caller, CountsTheStepsThatWereTaken) {
  Called desk;
  desk.script("revolve", 0);
  desk.caller.hand_out(Advance{0, 50});
  desk.sweep.finished_at = 7;  // the sweep ended within it
  desk.caller.take_back();
  desk.caller.hand_out(schedule::Adjoint{6});
  EXPECT_TRUE(desk.sweep.in_hand.first == 6 && desk.sweep.in_hand.last == 7);
  desk.caller.take_back();
  desk.caller.take_back();
  EXPECT_EQ(desk.sweep.advances, 7);
  EXPECT_EQ(desk.sweep.adjoints, 1) << "it was taken back once";
}

}  // namespace
}  // namespace anadrome::engine

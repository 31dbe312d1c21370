// The actions that the caller is handed, and what is counted when they come back.
#include "engine/caller.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/clock.h"
#include "desk.h"

namespace anadrome::engine {
namespace {

using schedule::Advance;

// The caller of a scripted sweep of 100 steps.
struct Called {
  explicit Called(Desk& made, const char* schedule = "revolve", std::int64_t steps = 100)
      : desk(made) {
    desk.begin(schedule, steps);
    desk.caller.take_back();  // nothing, or x_0
    sweep = &desk.script();
  }
  // The pieces in which an advance is handed out, each done before the next.
  std::vector<Advance> pieces(const Advance& advance) {
    std::vector<Advance> handed;
    for (desk.caller.hand_out(advance);;) {
      const anadrome_action& action = state.in_hand;
      EXPECT_EQ(action.kind, ANADROME_ADVANCE);
      handed.push_back(
          {action.first, action.last, action.branch, action.record != 0, action.again != 0});
      desk.step_to(action.last);
      for (const double now = now_seconds(); now_seconds() == now;) continue;  // it takes time
      desk.caller.take_back();
      if (!desk.caller.hand_out_rest()) return handed;
    }
  }
  Desk& desk;
  SweepState& state = desk.context.sweep;
  ScriptedSweep* sweep;
};

TEST(Caller, TakesAnAdvanceInOnePieceButForThePrediction) {
  alone(64, 0, [](Desk& desk) {
    Called c(desk);
    EXPECT_EQ(c.pieces({0, 50}), (std::vector<Advance>{{0, 4}, {4, 50}})) << "4 % of the steps";
    EXPECT_EQ(c.state.prediction.made_at, 4);
    EXPECT_GT(c.state.prediction.seconds, 0);
    EXPECT_EQ(c.pieces({50, 100}), (std::vector<Advance>{{50, 100}})) << "it is made once";
    EXPECT_EQ(c.state.advances, 100);
  });
  alone(64, 0, [](Desk& desk) {
    Called c(desk);
    const Advance again = {0, 50, 0, false, true};
    EXPECT_EQ(c.pieces(again), std::vector{again});
  });
}

TEST(Caller, FillsTheTapeWithTheLastStepOnly) {
  alone(64, 8, [](Desk& desk) {
    Called c(desk);
    EXPECT_EQ(c.pieces({0, 10, 0, true}), (std::vector<Advance>{{0, 4}, {4, 10, 0, true}}));
  });
}

TEST(Caller, TakesOneStepAtATimeWithExchangedFields) {
  alone(64, 0, [](Desk& desk) {
    store::Field field;
    field.name = "x";
    field.count = 8;
    field.exchanged = true;
    desk.fields.add(field);
    Called c(desk);
    EXPECT_EQ(c.pieces({0, 3}), (std::vector<Advance>{{0, 1}, {1, 2}, {2, 3}}));
    const LiveState& live = *desk.keeper.live();
    const auto is_written = [&](const auto& action) {
      desk.caller.hand_out(action);
      const void* const then = live.then(1);
      desk.caller.take_back();
      return live.now(1) == then;
    };
    EXPECT_TRUE(is_written(Advance{3, 4}));
    EXPECT_TRUE(is_written(schedule::Start{}));
    EXPECT_FALSE(is_written(schedule::Turn{4}));
  });
}

TEST(Caller, StopsAtAStateThatIsAuditedAndLooksAtItAgain) {
  alone(64, 0, [](Desk& desk) {
    desk.options.audit = Audit::kError;
    Called c(desk);
    c.state.prediction.due_at = 0;
    c.sweep->list.append(0);
    c.sweep->ahead = 20;
    EXPECT_EQ(c.pieces({0, 20}), (std::vector<Advance>{{0, 19}, {19, 20}}));
    desk.step_to(19);
    desk.caller.hand_out(schedule::Adjoint{19});
    EXPECT_FALSE(desk.context.held.failure());
    c.pieces({0, 20});
    desk.step_to(18);
    desk.caller.hand_out(schedule::Adjoint{19});
    EXPECT_EQ(desk.context.held.failure().status, ANADROME_ERR_NONDETERMINISTIC);
  });
}

TEST(Caller, CountsTheStepsThatWereTaken) {
  alone(64, 0, [](Desk& desk) {
    Called c(desk);
    c.state.prediction.due_at = 0;
    desk.caller.hand_out(Advance{0, 50});
    c.state.finished_at = 7;  // the sweep ended within it
    c.state.rest = {};
    desk.caller.take_back();
    EXPECT_EQ(c.state.advances, 7);
    EXPECT_FALSE(desk.caller.hand_out_rest());
    desk.caller.hand_out(schedule::Adjoint{6, 1});
    EXPECT_EQ(c.state.in_hand.kind, ANADROME_ADJOINT);
    EXPECT_EQ(c.state.in_hand.first, 6);
    EXPECT_EQ(c.state.in_hand.last, 7);
    EXPECT_EQ(c.state.in_hand.branch, 1);
    desk.caller.take_back();
    desk.caller.take_back();
    EXPECT_EQ(c.state.adjoints, 1) << "it was taken back once";
    EXPECT_EQ(c.state.advances, 7);
    desk.caller.hand_out(schedule::Start{2, true});
    EXPECT_EQ(c.state.in_hand.kind, ANADROME_START);
    EXPECT_EQ(c.state.in_hand.branch, 2);
    EXPECT_EQ(c.state.in_hand.again, 1);
    desk.caller.hand_out(schedule::Done{});
    EXPECT_EQ(c.state.in_hand.kind, ANADROME_DONE);
  });
}

TEST(Caller, MeasuresEachStepOfTheFirstSweepOfASchedulePlannedFromThem) {
  alone(64, 0, [](Desk& desk) {
    Called c(desk, "uneven", 3);
    EXPECT_EQ(c.pieces({0, 3}).size(), 3u);
    EXPECT_EQ(c.pieces({1, 3, 0, false, true}).size(), 1u) << "what is run again is not";
    Measurements& measured = desk.context.measured;
    measured.finish_step_tables(desk.context.agreement.ranks());
    measured.step_costs().begin(3, true);
    ASSERT_TRUE(measured.step_costs().known());
    for (const double seconds : measured.step_costs().values()) EXPECT_GT(seconds, 0);
  });
}

TEST(Caller, RecordsWhatTheCallerDid) {
  alone(64, 0, [](Desk& desk) {
    desk.options.trace = desk.directory / "trace.json";
    Called c(desk);
    c.state.prediction.due_at = 0;
    const auto done = [&](const auto& action) {
      desk.caller.hand_out(action);
      desk.caller.take_back();
      std::string activities;
      desk.context.recorder.write(desk.context.agreement, desk.options.trace, {});
      std::ifstream file(desk.options.trace);
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      for (const char* name : {"advance", "recompute", "turn", "adjoint"}) {
        if (text.find('"' + std::string(name) + '"') != std::string::npos) activities += name;
      }
      desk.context.recorder.prepare(true);
      return activities;
    };
    EXPECT_EQ(done(schedule::Start{}), "") << "the caller prepares x_0";
    EXPECT_EQ(done(Advance{0, 9}), "advance");
    EXPECT_EQ(done(Advance{0, 9, 0, false, true}), "recompute");
    EXPECT_EQ(done(schedule::Turn{100}), "turn");
    EXPECT_EQ(done(schedule::Adjoint{8}), "adjoint");
  });
}

}  // namespace
}  // namespace anadrome::engine

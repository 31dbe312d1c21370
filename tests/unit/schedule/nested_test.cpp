#include "schedule/nested.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "nested_replay.h"
#include "schedule/plain_planners.h"

namespace anadrome::schedule {
namespace {

TEST(Nested, TakesWhatRevolveTakesWithItsPlanner) {
  for (std::int64_t n = 1; n <= 60; ++n) {
    for (const std::int64_t s : {1, 2, 3, 5, 9}) {
      NestedOptions options;
      options.steps = n;
      options.units = s;
      options.turn = false;
      const NestedTotals paper = replay(options, std::make_unique<RevolvePlanner>());
      EXPECT_EQ(static_cast<uint128>(paper.advances), extra_advances(n, s)) << n << " " << s;
      options.turn = true;
      const NestedTotals run = replay(options, std::make_unique<RevolvePlanner>());
      EXPECT_EQ(static_cast<uint128>(run.advances), extra_advances(n + 1, s)) << n << " " << s;
      options.record = true;
      const NestedTotals taped = replay(options, std::make_unique<RevolvePlanner>());
      EXPECT_EQ(static_cast<uint128>(taped.advances), extra_advances(n, s)) << n << " " << s;
      EXPECT_EQ(taped.recorded, n);
    }
  }
}

TEST(Nested, HasX0AtTheEndOfASweepWithoutSteps) {
  NestedOptions options;
  const NestedTotals totals = replay(options, std::make_unique<RevolvePlanner>());
  EXPECT_EQ(totals.advances, 0);
}

NestedOptions tapes_of(std::int64_t n, std::int64_t room) {
  NestedOptions options;
  options.steps = n;
  options.units = 2 * room + 1;  // x_n
  options.tape_units = 2;
  options.record = true;
  options.retain = true;
  return options;
}

TEST(Nested, RunsNoStepAgainWhereEveryTapeIsKept) {
  for (const std::int64_t n : {0, 1, 2, 17}) {
    const NestedOptions options = tapes_of(n, n);
    const NestedTotals totals = replay(options, std::make_unique<StoreTapesPlanner>());
    EXPECT_EQ(totals.advances, 0);
    EXPECT_EQ(totals.recorded, n);
  }
}

TEST(Nested, FindsTheEndWhereItIsNotTold) {
  for (const std::int64_t n : {1, 2, 17}) {
    NestedOptions options = tapes_of(kUnknown, n);
    Nested nested(options, std::make_unique<StoreTapesPlanner>());
    const NestedTotals totals = NestedMachine(nested, options, n).sweep();
    EXPECT_EQ(totals.recorded, n);
  }
}

TEST(Nested, EndsBeforeAStepThatWasHandedOut) {
  Nested nested(tapes_of(kUnknown, 4), std::make_unique<StoreTapesPlanner>());
  EXPECT_EQ(nested.next().kind, Kind::kAdvance);
  EXPECT_EQ(nested.next().kind, Kind::kKeepTape);
  EXPECT_EQ(nested.next().last, 2);
  EXPECT_FALSE(nested.may_finish(0));
  nested.finish_forward(1);
  EXPECT_EQ(nested.next().kind, Kind::kKeep);
  EXPECT_EQ(nested.next().kind, Kind::kTurn);
  const Action restored = nested.next();
  EXPECT_EQ(restored.kind, Kind::kRestoreTape);
  EXPECT_EQ(restored.first, 0);
  EXPECT_EQ(nested.next().kind, Kind::kAdjoint);
  EXPECT_EQ(nested.next().kind, Kind::kDone);
}

TEST(Nested, SaysSoWhereTapesDoNotFit) {
  NestedOptions options = tapes_of(kUnknown, 2);
  Nested nested(options, std::make_unique<StoreTapesPlanner>());
  for (int i = 0; i < 4; ++i) nested.next();
  try {
    nested.next();
    FAIL() << "a third tape was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ANADROME_ERR_MEMORY);
  }
}

TEST(Nested, RewindsOverKeptTapesWithoutAnAdvance) {
  for (const std::int64_t n : {0, 1, 5}) {
    Nested nested(tapes_of(n, n), std::make_unique<StoreTapesPlanner>());
    while (nested.next().kind != Kind::kDone) {
    }
    ASSERT_TRUE(nested.can_rewind());
    nested.rewind();
    std::int64_t adjoints = 0, turns = 0;
    for (Action action = nested.next(); action.kind != Kind::kDone; action = nested.next()) {
      EXPECT_NE(action.kind, Kind::kAdvance);
      adjoints += action.kind == Kind::kAdjoint ? 1 : 0;
      turns += action.kind == Kind::kTurn ? 1 : 0;
    }
    EXPECT_EQ(adjoints, n);
    EXPECT_EQ(turns, 1);
  }
}

/// Says what it is told to say.
class Stubborn final : public Planner {
 public:
  explicit Stubborn(Placement placement) : placement_(placement) {}
  Placement place(const Segment&) override { return placement_; }
  uint128 advances(const Segment&) override { return 0; }

 private:
  Placement placement_;
};

TEST(Nested, RefusesAPlannerThatBreaksTheRules) {
  NestedOptions options;
  options.steps = 8;
  options.units = 3;
  const std::vector<Placement> wrong = {
      {Place::kNowhere, 2}, {Place::kRam, 0}, {Place::kDisk, 0}, {Place::kTape, 0}};
  for (const Placement& placement : wrong) {
    Nested nested(options, std::make_unique<Stubborn>(placement));
    EXPECT_THROW(
        {
          for (int i = 0; i < 100; ++i) nested.next();
        },
        Error);
  }
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/stack_sweep.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "replay.h"
#include "schedule/stack/plain_planners.h"

namespace anadrome::schedule {
namespace {

TEST(StackSweep, TakesWhatRevolveTakesWithItsPlanner) {
  for (std::int64_t n = 1; n <= 60; ++n) {
    for (const std::int64_t s : {1, 2, 3, 5, 9, 40}) {
      StackOptions options = {.steps = n, .units = s, .turn = false};
      const Taken paper = replay(options, std::make_unique<RevolvePlanner>());
      EXPECT_EQ(static_cast<uint128>(paper.advances), extra_advances(n, s)) << n << " " << s;
      options.turn = true;
      const Taken run = replay(options, std::make_unique<RevolvePlanner>());
      EXPECT_EQ(static_cast<uint128>(run.advances), extra_advances(n + 1, s)) << n << " " << s;
      options.record = true;
      const Taken taped = replay(options, std::make_unique<RevolvePlanner>());
      EXPECT_EQ(static_cast<uint128>(taped.advances), extra_advances(n, s)) << n << " " << s;
      EXPECT_EQ(taped.recorded, n);
    }
  }
}

TEST(StackSweep, HasX0AtTheEndOfASweepWithoutSteps) {
  StackOptions options;
  const Taken totals = replay(options, std::make_unique<RevolvePlanner>());
  EXPECT_EQ(totals.advances, 0);
}

StackOptions tapes_of(std::int64_t n, std::int64_t room) {
  StackOptions options;
  options.steps = n;
  options.units = 2 * room + 1;  // x_n
  options.tape_units = 2;
  options.record = true;
  options.retain = true;
  return options;
}

TEST(StackSweep, RunsNoStepAgainWhereEveryTapeIsKept) {
  for (const std::int64_t n : {0, 1, 2, 17}) {
    const StackOptions options = tapes_of(n, n);
    const Taken totals = replay(options, std::make_unique<StoreTapesPlanner>());
    EXPECT_EQ(totals.advances, 0);
    EXPECT_EQ(totals.recorded, n);
  }
}

TEST(StackSweep, FindsTheEndWhereItIsNotTold) {
  for (const std::int64_t n : {1, 2, 17}) {
    StackOptions options = tapes_of(kUnknown, n);
    StackSweep nested(options, std::make_unique<StoreTapesPlanner>());
    const Taken totals = Driver(nested, rules_of(options, nested.planner()), {.steps = n}).sweep();
    EXPECT_EQ(totals.recorded, n);
  }
}

TEST(StackSweep, EndsBeforeAStepThatWasHandedOut) {
  StackSweep nested(tapes_of(kUnknown, 4), std::make_unique<StoreTapesPlanner>());
  EXPECT_TRUE(std::holds_alternative<Advance>(nested.next()));
  EXPECT_EQ(std::get<Keep>(nested.next()).what, What::kTape);
  EXPECT_EQ(std::get<Advance>(nested.next()).last, 2);
  EXPECT_FALSE(nested.course().ends.has(0));
  nested.finish_forward(1);
  EXPECT_TRUE(std::holds_alternative<Keep>(nested.next()));
  EXPECT_TRUE(std::holds_alternative<Turn>(nested.next()));
  const Action restored = nested.next();
  EXPECT_EQ(std::get<Restore>(restored).what, What::kTape);
  EXPECT_EQ(std::get<Restore>(restored).step, 0);
  EXPECT_TRUE(std::holds_alternative<Adjoint>(nested.next()));
  EXPECT_TRUE(std::holds_alternative<Done>(nested.next()));
}

TEST(StackSweep, SaysSoWhereTapesDoNotFit) {
  StackOptions options = tapes_of(kUnknown, 2);
  StackSweep nested(options, std::make_unique<StoreTapesPlanner>());
  for (int i = 0; i < 4; ++i) nested.next();
  try {
    nested.next();
    FAIL() << "a third tape was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ANADROME_ERR_MEMORY);
  }
}

TEST(StackSweep, RewindsOverKeptTapesWithoutAnAdvance) {
  for (const std::int64_t n : {0, 1, 5}) {
    StackSweep nested(tapes_of(n, n), std::make_unique<StoreTapesPlanner>());
    while (!std::holds_alternative<Done>(nested.next())) {
    }
    ASSERT_TRUE(nested.course().may_rewind);
    nested.rewind(1);
    std::int64_t adjoints = 0, turns = 0;
    for (Action action = nested.next(); !std::holds_alternative<Done>(action);
         action = nested.next()) {
      EXPECT_FALSE(std::holds_alternative<Advance>(action));
      adjoints += std::holds_alternative<Adjoint>(action) ? 1 : 0;
      turns += std::holds_alternative<Turn>(action) ? 1 : 0;
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

TEST(StackSweep, RefusesAPlannerThatBreaksTheRules) {
  StackOptions options = {.steps = 8, .units = 3};
  const std::vector<Placement> wrong = {
      {Place::kNowhere, 2}, {Place::kRam, 0}, {Place::kDisk, 0}, {Place::kTape, 0}};
  for (const Placement& placement : wrong) {
    StackSweep nested(options, std::make_unique<Stubborn>(placement));
    EXPECT_THROW(
        {
          for (int i = 0; i < 100; ++i) nested.next();
        },
        Error);
  }
}

}  // namespace
}  // namespace anadrome::schedule

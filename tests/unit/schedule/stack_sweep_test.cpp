// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/stack_sweep.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "replay.h"
#include "schedule/stack/kept_stack.h"
#include "schedule/stack/plain_planners.h"

namespace anadrome::schedule {
namespace {

// The papers' problem has no turn; a run's is in anchored_planner_test.cpp.
TEST(StackSweep, TakesWhatRevolveTakesWithoutATurn) {
  for (std::int64_t n = 1; n <= 40; ++n) {
    for (const std::int64_t s : {1, 2, 3, 5, 9, 40}) {
      const StackOptions options = {.steps = n, .units = s, .turn = false};
      const Taken taken = replay(options, std::make_unique<RevolvePlanner>());
      EXPECT_EQ(static_cast<uint128>(taken.advances), extra_advances(n, s)) << n << " " << s;
    }
  }
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

TEST(StackSweep, RunsNoStepAgainWhereEveryTapeIsKeptNorAfterARewind) {
  for (const std::int64_t n : {0, 1, 2, 17}) {
    for (const bool known : {true, false}) {
      if (n == 0 && !known) continue;
      const StackOptions options = tapes_of(known ? n : kUnknown, n);
      StackSweep nested(options, std::make_unique<StoreTapesPlanner>());
      Driver driver(nested, rules_of(options, nested.planner()), {.steps = n});
      const Taken taken = driver.sweep();
      EXPECT_EQ(taken.advances, 0);
      EXPECT_EQ(taken.recorded, n);
      if (!known) continue;
      ASSERT_TRUE(nested.course().may_rewind);
      const Taken again = driver.rewind();
      EXPECT_EQ(again.advances + again.recorded, 0);
      EXPECT_EQ(again.adjoints, n);
    }
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
  StackSweep nested(tapes_of(kUnknown, 2), std::make_unique<StoreTapesPlanner>());
  for (int i = 0; i < 4; ++i) nested.next();
  EXPECT_EQ(failure_from([&] { nested.next(); }).status, ANADROME_ERR_MEMORY) << "a third tape";
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

// What sweeps under the rules do not show: what was popped is accounted for when it is back.
TEST(KeptStack, PutsBackWhatWasPoppedWhereItWas) {
  KeptStack stack(false);
  for (const std::int64_t step : {0, 1, 2}) stack.push(step, Place::kRam, 1);
  EXPECT_EQ(stack.replace(1, 9).place, 1);
  stack.sort();
  EXPECT_EQ(stack.pop().step, 9);
  EXPECT_EQ(stack.push(5, Place::kRam, 1).place, 1) << "slot 2 is taken";
  EXPECT_EQ(stack.push(7, Place::kDisk, 0).place, 0);
  while (stack.has_entries()) stack.pop();
  EXPECT_EQ(stack.all().units, 0);
  EXPECT_EQ(stack.all().disk_slots, 0);
  EXPECT_EQ(stack.leave(2, 6).place, 1);
  stack.put_back();
  EXPECT_EQ(stack.all().units, 3);
  EXPECT_EQ(stack.all().disk_slots, 1);
  EXPECT_EQ(stack.top_step(), 7);
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/words/rules.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "base/error.h"

namespace anadrome::schedule {
namespace {

const Keep kX0{{.step = 0, .place = 0, .room = {0, 1}}};
const Restore kX0Again{{.step = 0, .place = 0, .room = {0, 1}}};
const Adjoint kOf0{.step = 0}, kOf1{.step = 1};

Advance run(std::int64_t first, std::int64_t last, bool again = false) {
  return {.first = first, .last = last, .again = again};
}

RuleOptions two_steps() { return {.steps = {2}, .units = 2}; }

bool breaks(std::initializer_list<Action> actions, const RuleOptions& options = two_steps()) {
  Rules rules(options);
  std::size_t played = 0;
  try {
    for (const Action& action : actions) rules.play(action), ++played;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ANADROME_ERR_INTERNAL);
    EXPECT_EQ(played + 1, actions.size()) << error.what();  // not before the last one
    return true;
  }
  return false;
}

TEST(Rules, CountsWhatASweepTakes) {
  Rules rules(two_steps());
  for (const Action& action : {Action{kX0}, Action{run(0, 2)}, Action{Turn{.step = 2}},
                               Action{kX0Again}, Action{run(0, 1, true)}, Action{kOf1},
                               Action{kX0Again}, Action{kOf0}, Action{kX0Again}, Action{Done{}}}) {
    rules.play(action);
  }
  EXPECT_TRUE(rules.done());
  EXPECT_EQ(rules.taken().advances, 3);
  EXPECT_EQ(rules.taken().keeps, 1);
  EXPECT_EQ(rules.taken().restores, 3);
  EXPECT_EQ(rules.taken().adjoints, 2);
  EXPECT_EQ(rules.taken().most_units, 1);
}

TEST(Rules, RefuseStepsFromAStateThatIsNotLive) {
  EXPECT_TRUE(breaks({run(1, 2)}));
  EXPECT_TRUE(breaks({run(0, 3)}));
  EXPECT_TRUE(breaks({run(0, 1), run(1, 1)}));
  EXPECT_TRUE(breaks({run(0, 1, true)}));
  EXPECT_TRUE(breaks({kX0, run(0, 1), kX0Again, run(0, 1)}));
  EXPECT_FALSE(breaks({kX0, run(0, 1), kX0Again, run(0, 1, true)}));
}

TEST(Rules, RefuseMoreThanTheMemoryHolds) {
  EXPECT_TRUE(breaks({kX0, kX0}));
  EXPECT_TRUE(breaks({Keep{{.step = 0, .place = 2, .room = {2, 1}}}}));
  EXPECT_TRUE(breaks({Keep{{.step = 0, .place = 0, .room = {0, 2}}}}));
  EXPECT_TRUE(breaks({Drop{{.step = 0, .place = 0}}}));
  EXPECT_TRUE(breaks({kX0, Restore{{.step = 1, .place = 0}}}));
}

TEST(Rules, RefuseAdjointsOutOfOrder) {
  EXPECT_TRUE(breaks({kX0, kOf0}));
  EXPECT_TRUE(breaks({kX0, run(0, 1), Turn{.step = 1}}));
  EXPECT_TRUE(breaks({kX0, run(0, 2), Turn{.step = 2}, kOf1}));
  EXPECT_TRUE(breaks({kX0, run(0, 2), Turn{.step = 2}, kX0Again, kOf0}));
  EXPECT_TRUE(breaks({kX0, run(0, 2), Turn{.step = 2}, kX0Again, Turn{.step = 2}}));
  EXPECT_TRUE(breaks({kX0, run(0, 2), Turn{.step = 2}, Done{}}));
}

TEST(Rules, WantTheTapeWhereTheAdjointReadsOne) {
  RuleOptions options = two_steps();
  EXPECT_TRUE(breaks({Advance{.first = 0, .last = 2, .record = true}}, options));
  options.record = true;
  const Advance recorded{.first = 0, .last = 2, .record = true};
  EXPECT_FALSE(breaks({kX0, recorded, Turn{.step = 2}, kOf1}, options));
  EXPECT_TRUE(breaks({kX0, run(0, 2), Turn{.step = 2}, kOf1}, options));
  EXPECT_TRUE(breaks({recorded, Keep{{.what = What::kTape, .step = 1}}}, options));
}

TEST(Rules, NumberAnchorsThatStay) {
  RuleOptions options = two_steps();
  options.anchors_stay = true;
  const auto anchor = [](std::int64_t step, std::int64_t number) {
    return Keep{{.tier = kDiskTier, .step = step, .place = number}};
  };
  EXPECT_FALSE(breaks({anchor(0, 0), run(0, 1), anchor(1, 1)}, options));
  EXPECT_TRUE(breaks({anchor(0, 0), run(0, 1), anchor(1, 0)}, options));
  EXPECT_TRUE(breaks({anchor(0, 1)}, options));
}

TEST(Rules, ReadOnlyWhatWasWritten) {
  RuleOptions options = two_steps();
  options.transfers = true;
  const Kept x_0{.tier = kDiskTier};
  EXPECT_TRUE(breaks({Keep{x_0}, Drop{x_0}, Read{x_0}}, options));
  EXPECT_TRUE(breaks({Keep{x_0}, Write{x_0}, Read{x_0}}, options));
  EXPECT_TRUE(breaks({Keep{x_0}, Write{x_0}, Drop{x_0}, Restore{x_0}}, options));
  EXPECT_FALSE(breaks({Keep{x_0}, Write{x_0}, Drop{x_0}, Read{x_0}, Restore{x_0}}, options));
}

}  // namespace
}  // namespace anadrome::schedule

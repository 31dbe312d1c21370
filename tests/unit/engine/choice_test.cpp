// SPDX-License-Identifier: BSD-2-Clause
// The choice of schedule=auto, and its reason.
#include "engine/choice.h"

#include <gtest/gtest.h>

#include <string>

#include "desk.h"

namespace anadrome::engine {
namespace {

struct Chooser : LoneDesk {
  Chooser() : LoneDesk(kMiB) { options.memory = 10 * kMiB; }
  // The schedule of the next sweep, and what is said of it.
  std::string chosen(std::int64_t steps, bool same_disk = true) {
    SweepPlan next = plan("auto", steps);
    choice.choose(next, sweep, context.plan, same_disk);
    return next.schedule->name + (": " + sweep.chosen);
  }
};

TEST(Choice, IsEveryStateIfTheyFitAndTheDiskIfNot) {
  Chooser desk;
  EXPECT_EQ(desk.chosen(9), "store_all: 9 of 9 states fit: all of them");
  EXPECT_EQ(desk.chosen(10), "async: 9 of 10 states fit");
  EXPECT_EQ(desk.chosen(schedule::kUnknown), "async: the number of steps is not known");
  desk.options.passes = 4;
  EXPECT_EQ(desk.chosen(9), "store_all: 9 of 9 states fit: all of them");
  EXPECT_EQ(desk.chosen(10), "async: 9 of 10 states fit");
  desk.options.passes = 0;
  desk.options.resume = true;
  EXPECT_EQ(desk.chosen(9), "async: resume=on wants files");
  desk.options.keep = true;
  EXPECT_EQ(desk.chosen(9), "async: keep=on wants files");
  SweepPlan branches;
  branches.join.steps = {3, 4};
  desk.choice.choose(branches, desk.sweep, desk.context.plan, true);
  EXPECT_STREQ(branches.schedule->name, "join");
  desk.options.schedule = schedule::find_schedule("revolve");
  EXPECT_TRUE(desk.chosen(9).starts_with("revolve")) << "the option says so";
}

TEST(Choice, FollowsTheTimesOfTheSweepBeforeCorrectedByWhatItTook) {
  Chooser desk;
  desk.begin("auto", 100);
  desk.meeting.bring = [](Agreement::Input& input) {
    input.largest = {10e-3, 20e-3, 10e-3, 10e-3};
    input.smallest = 2;
  };
  desk.meeting.agree(Call::kDone);
  desk.context.measured.sweep_is_done(true);
  desk.keeper.abandon();
  const std::string unweighed = "async: 9 of 100 states fit";
  EXPECT_EQ(desk.chosen(100, false), unweighed) << "those were of another disk";
  desk.options.passes = 4;
  EXPECT_EQ(desk.chosen(100), unweighed) << "for passes the others leave too little";
  desk.options.passes = 0;
  const std::string weighed = desk.chosen(100);
  EXPECT_TRUE(weighed.starts_with(unweighed + "; measured times promise 3 s with async, "));
  EXPECT_NEAR(desk.sweep.expected_seconds, 3, 0.1);
  desk.sweep.times.begin = 50;
  desk.sweep.times.done = 50 + 2 * desk.sweep.expected_seconds;
  desk.choice.note(desk.sweep);
  const std::string corrected = desk.chosen(100);
  EXPECT_TRUE(corrected.starts_with("overlapped: ")) << corrected;
  EXPECT_NE(corrected.find("promise 4.5 s with async"), std::string::npos) << corrected;
  desk.choice.forget();
  EXPECT_EQ(desk.chosen(100), weighed) << "on another disk";
  desk.options.interval = 5;
  EXPECT_EQ(desk.chosen(100), unweighed) << "the interval is given";
}

}  // namespace
}  // namespace anadrome::engine

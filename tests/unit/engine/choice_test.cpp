// What schedule=auto takes, and why.
#include "engine/choice.h"

#include <gtest/gtest.h>

#include <string>

#include "desk.h"

namespace anadrome::engine {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// The schedule of the next sweep, and what is said of it.
std::string chosen(Desk& desk, std::int64_t steps, bool same_disk = true) {
  SweepPlan plan = desk.plan("auto", steps);
  SweepState& sweep = desk.context.sweep;
  sweep.chosen = "";
  desk.choice.choose(plan, sweep, desk.context.plan, same_disk);
  return plan.schedule->name + (": " + sweep.chosen);
}

TEST(Choice, IsEveryStateIfTheyFitAndTheDiskIfNot) {
  alone(kMiB, 0, [](Desk& desk) {
    desk.options.memory = 10 * kMiB + kMiB / 2;
    EXPECT_EQ(chosen(desk, 10), "store_all: 10 of 10 states fit: all of them");
    EXPECT_EQ(chosen(desk, 11), "async: 10 of 11 states fit");
    EXPECT_EQ(chosen(desk, schedule::kUnknown), "async: the number of steps is not known");
    desk.options.resume = true;
    EXPECT_EQ(chosen(desk, 10), "async: resume=on wants files");
    desk.options.keep = true;
    EXPECT_EQ(chosen(desk, 10), "async: keep=on wants files");
    desk.options.schedule = schedule::find_schedule("revolve");
    EXPECT_EQ(chosen(desk, 10), "revolve: ");
    desk.options.schedule = nullptr;
    SweepPlan plan;
    plan.join.steps = {3, 4};
    desk.choice.choose(plan, desk.context.sweep, desk.context.plan, true);
    EXPECT_STREQ(plan.schedule->name, "join");
  });
}

// The second sweep of a run, whose first was on disk.
void again(const std::function<void(Desk&)>& body) {
  alone(kMiB, 0, [&](Desk& desk) {
    desk.options.memory = 10 * kMiB;
    desk.begin("auto", 100);
    desk.meeting.bring = [&](Agreement::Input& input) {
      input.largest = {10e-3, 20e-3, 10e-3, 10e-3};
      input.smallest = 2;
    };
    desk.meeting.agree(Call::kDone);
    desk.context.measured.sweep_is_done(true);
    desk.keeper.abandon();
    body(desk);
  });
}

TEST(Choice, IsWhatTheTimesOfTheSweepBeforePromise) {
  again([](Desk& desk) {
    const std::string promised =
        "async: 9 of 100 states fit; measured times promise 3 s with async";
    EXPECT_TRUE(chosen(desk, 100).starts_with(promised));
    EXPECT_EQ(chosen(desk, 100, false), "async: 9 of 100 states fit") << "those of another disk";
    desk.options.interval = 5;
    EXPECT_EQ(chosen(desk, 100), "async: 9 of 100 states fit") << "the interval is given";
  });
}

TEST(Choice, IsCorrectedByWhatASweepTook) {
  again([](Desk& desk) {
    SweepState& sweep = desk.context.sweep;
    const std::string before = chosen(desk, 100);
    EXPECT_NEAR(sweep.expected_seconds, 3, 0.1);
    sweep.begin_time = 50;
    sweep.done_time = 50 + 2 * sweep.expected_seconds;
    desk.choice.note(sweep);
    EXPECT_TRUE(
        chosen(desk, 100).starts_with("overlapped: 9 of 100 states fit; measured times "
                                      "promise 4.5 s with async"));
    desk.choice.forget();
    EXPECT_EQ(chosen(desk, 100), before) << "on another disk";
  });
}

}  // namespace
}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/report/why.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace anadrome::engine {
namespace {

// 1000 steps of 1 s, 2 s for the adjoint; on disk an anchor every `interval` steps.
SweepCosts on_disk(double transfer, std::int64_t blocks, std::int64_t interval) {
  SweepCosts costs;
  costs.step = {1, 2, transfer, transfer};
  costs.steps = 1000;
  costs.disk = true;
  costs.memory = {blocks, 1, true};
  costs.plan = {interval, 1, costs.memory.slots(1), 0};
  return costs;
}

SweepCosts in_memory(std::int64_t slots) {
  SweepCosts costs;
  costs.step = {1, 2, 0, 0};
  costs.steps = 1000;
  costs.plan.slots = slots;
  return costs;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PredictSeconds, AddsWhatTheSchedulePromises) {
  // 40 s so far; 960 steps and 500 more to be taken again, 1000 adjoint steps of 2 s.
  EXPECT_DOUBLE_EQ(predict_seconds(in_memory(10), {40, 40, 1460}), 40 + 1460 + 2000);
}

TEST(PredictSeconds, AddsCopies) {
  SweepCosts costs = in_memory(1000);
  costs.copy = 0.25;  // a keep and a restore for each step
  EXPECT_DOUBLE_EQ(predict_seconds(costs, {0, 0, 1000}), 1000 + 2000 + 2 * 250);
}

TEST(PredictSeconds, AddsCopiesToAnchorsByThemselves) {
  SweepCosts costs = on_disk(0, 10, 4);
  const double alone = predict_seconds(costs, {0, 0, 1000});
  costs.copy = 1;  // 1000 restores, and 3 of 4 states are kept in slots
  costs.anchor_copy = 10;
  EXPECT_DOUBLE_EQ(predict_seconds(costs, {0, 0, 1000}), alone + 1750 + 250 * 10);
}

TEST(PredictSeconds, AddsTransfersOnlyWhereTheyAreNotHidden) {
  EXPECT_DOUBLE_EQ(predict_seconds(on_disk(0.5, 10, 1), {0, 0, 1000}), 3000);
  // A write of 4 s under a step of 1 s, a read of 4 s under an adjoint step of 2 s. The last 9
  // steps are reversed from memory. 991 states and x_0 once more are written, one of them after
  // TURN, where it still is in memory: it is not read.
  EXPECT_DOUBLE_EQ(predict_seconds(on_disk(4, 10, 1), {0, 0, 1000}),
                   3000 + (991 * 4 - 1000) + (990 * 4 - 990 * 2));
  // Files that are to be read have all states.
  SweepCosts all = on_disk(4, 10, 1);
  all.all_anchors = true;
  EXPECT_DOUBLE_EQ(predict_seconds(all, {0, 0, 1000}),
                   3000 + (999 * 4 - 1000) + (998 * 4 - 998 * 2));
}

// Of 101 writes of 4 s, 9 wait in memory; 99 states are read.
TEST(PredictSeconds, AddsTransfersOfAnchorsThatFindRoom) {
  EXPECT_DOUBLE_EQ(predict_seconds(on_disk(4, 10, 1), {0, 0, 1000, 0, 100}),
                   3000 + (92 * 4 - 100) + (99 * 4 - 99 * 2));
}

// 1000 s, and of these so many.
SweepTimes times(double again, double waiting = 0) {
  SweepTimes times;
  times.total = 1000;
  times.steps = 1000 - again - waiting;
  times.again = again;
  times.waiting = waiting;
  times.recompute_factor = 1 + again / 200;
  return times;
}

TEST(Verdict, SaysWhereTheTimeWent) {
  EXPECT_TRUE(
      says(verdict(times(70, 30), {}, false),
           "  16 min 40 s, of which your steps take 15 min 00 s; beside them recomputation 70 s, "
           "waiting for the disk 30 s\n"));
  EXPECT_TRUE(says(verdict(times(0), {}, false), "; recomputation and waiting cost nothing\n"));
  SweepTimes more = times(0);
  more.total = 1010;
  EXPECT_TRUE(says(verdict(more, {}, false), "; beside them all else 10 s\n"))
      << verdict(more, {}, false);
}

TEST(Verdict, NamesRecomputationWhereStepsAreTakenTwice) {
  EXPECT_TRUE(says(verdict(times(110, 300), {}, false),
                   "bound by recomputation (1.55 forward steps per step)"));
  EXPECT_TRUE(says(verdict(times(90, 300), {}, false), "bound by the disk"));
  EXPECT_TRUE(says(verdict(times(90, 40), {}, false), "bound by recomputation (1.45"));
  EXPECT_TRUE(says(verdict(times(20, 20), {}, false), "bound by your steps"));
  SweepTimes cheap = times(20);  // of steps that cost next to nothing
  cheap.recompute_factor = 3;
  EXPECT_TRUE(says(verdict(cheap, {}, false), "bound by your steps"));
}

TEST(Verdict, SaysWhatAChangeWouldTake) {
  const std::string text = verdict(times(300), {.now = 950, .twice_memory = 700}, false);
  EXPECT_TRUE(says(text, "; twice the memory: 12 min 30 s (25 % less)\n")) << text;
  EXPECT_FALSE(says(text, "disk twice")) << "nothing is known of it: " << text;
  const std::string none =
      verdict(times(0), {.now = 1000, .twice_memory = 990, .twice_disk = 1000}, false);
  EXPECT_TRUE(says(none, "; twice the memory gains nothing; a disk twice as fast gains nothing"));
}

TEST(Verdict, SaysNothingOfChangesWhereTheModelIsNotTheSweeps) {
  EXPECT_FALSE(says(verdict(times(300), {.now = 880, .twice_memory = 500}, false), "memory"));
  EXPECT_FALSE(says(verdict(times(300), {.now = 1120, .twice_memory = 500}, false), "memory"));
  SweepTimes copied = times(300);  // what is not modelled stays as it is
  copied.total = 2000;
  copied.copying = 1000;
  EXPECT_TRUE(says(verdict(copied, {.now = 1000, .twice_memory = 500}, false),
                   "twice the memory: 25 min 00 s (25 % less)"));
  SweepTimes brief = times(0.3);
  brief.total = brief.steps = 0.9;
  EXPECT_FALSE(says(verdict(brief, {.now = 0.9, .twice_memory = 0.7}, false), "memory"));
}

TEST(Verdict, OffersExchangedFieldsToLargeStatesThatAreCopiedLong) {
  SweepTimes copied = times(0);
  copied.copying = 100;
  EXPECT_TRUE(
      says(verdict(copied, {.now = 1000}, true), "exchanged fields save the copies: 10 % less"));
  EXPECT_FALSE(says(verdict(copied, {.now = 1000}, false), "exchanged"));
  copied.copying = 20;
  EXPECT_FALSE(says(verdict(copied, {.now = 1000}, true), "exchanged"));
}

TEST(Prediction, IsRenewedUntilHalfOfTheStepsAreDone) {
  const auto times = [](std::int64_t steps) {
    std::vector<std::int64_t> made;
    for (std::int64_t done = prediction_after(steps, 0); done > 0;
         done = prediction_after(steps, done))
      made.push_back(done);
    return made;
  };
  using Steps = std::vector<std::int64_t>;
  EXPECT_EQ(times(640), (Steps{10, 20, 40, 80, 160, 320}));
  EXPECT_EQ(times(100), (Steps{1, 6, 12, 25, 50}));
  EXPECT_EQ(times(10), (Steps{1, 5}));
  EXPECT_EQ(times(8), (Steps{1})) << "the first steps say nothing";
}

TEST(Verdict, NamesWhatThereIsTooLittleOf) {
  SweepTimes again = times(300);
  const Outlook room = {.now = 1000, .twice_memory = 995, .twice_disk = 1000, .twice_room = 800};
  const std::string text = verdict(again, room, false);
  EXPECT_TRUE(says(text, ", for want of room on disk; ")) << text;
  EXPECT_TRUE(says(text, "twice the room on disk: ")) << text;
  const Outlook memory = {.now = 1000, .twice_memory = 700, .twice_disk = 1000, .twice_room = 900};
  EXPECT_TRUE(says(verdict(again, memory, false), ", for want of memory; "));
  const Outlook disk = {.now = 1000, .twice_memory = 990, .twice_disk = 900};
  EXPECT_TRUE(says(verdict(again, disk, false), ", for want of a faster disk; "));
  EXPECT_FALSE(says(verdict(again, {.now = 1000, .twice_memory = 990}, false), "for want"));
}

TEST(Verdict, NamesCoresThatStepsAndTransfersShare) {
  SweepTimes shared = times(20);
  shared.slowed = 200;
  const std::string text = verdict(shared, {}, false);
  EXPECT_TRUE(says(text, "bound by cores that steps and transfers share; ")) << text;
  EXPECT_TRUE(says(text, "; a core for the transfers: ")) << text;
}

TEST(Verdict, CountsNoStepsOfAPartOfASweep) {
  SweepTimes part = times(300);
  part.recompute_factor = 0;
  EXPECT_TRUE(says(verdict(part, {}, false), "bound by recomputation\n"));
}

TEST(Verdict, SaysNothingOfNothing) { EXPECT_EQ(verdict({}, {}, true), ""); }

}  // namespace
}  // namespace anadrome::engine

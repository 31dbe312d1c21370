// SPDX-License-Identifier: BSD-2-Clause
// The choice of schedule=auto, and its reason.
#include "engine/choice.h"

#include <gtest/gtest.h>

#include <string>

#include "desk.h"

namespace anadrome::engine {
namespace {

struct Chooser : LoneDesk {
  explicit Chooser(std::int64_t state_bytes = kMiB) : LoneDesk(state_bytes) {
    options.memory = 10 * state_bytes;
  }
  // The schedule of the next sweep, and what is said of it.
  std::string chosen(std::int64_t steps) {
    SweepPlan next = plan("auto", steps);
    choice.choose(next, sweep);
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
  desk.options.schedule = schedule::find_schedule("revolve");
  EXPECT_TRUE(desk.chosen(9).starts_with("revolve")) << "the option says so";
}

// Should the disk turn out to be of no use, what small states leave of the memory beside one costs
// little: Revolve alone runs at most a twentieth fewer steps.
TEST(Choice, RunsNotManyMoreStepsOfSmallStatesThanRevolveAlone) {
  int alone = 0, beside_a_disk = 0;
  for (const std::int64_t bytes : {8, 64, 320, 1000, 4096, 20'000, 65'536, 400'000, 1'000'000}) {
    for (const std::int64_t slots : {2, 3, 5, 10, 24, 60, 200}) {
      for (const std::int64_t steps : {30, 200, 1000, 10'000}) {
        Chooser desk(bytes);
        desk.options.memory = slots * bytes + 4096;
        const std::string chosen = desk.chosen(steps);
        if (chosen.starts_with("store_all")) continue;
        const SweepPlan plan = desk.plan("auto", steps);
        const auto steps_with = [&](const char* name) {
          const std::int64_t in_all =
              desk.planning.slots_with(plan, *schedule::find_schedule(name));
          return static_cast<double>(
              schedule::extra_advances(steps + 1, std::max<std::int64_t>(in_all, 1)));
        };
        const bool revolve = chosen.starts_with("revolve");
        ++(revolve ? alone : beside_a_disk);
        EXPECT_LE(steps_with(revolve ? "revolve" : "async"), 1.05 * steps_with("revolve"))
            << bytes << " bytes, " << slots << " slots, " << steps << " steps: " << chosen;
      }
    }
  }
  EXPECT_GT(alone, 20);
  EXPECT_GT(beside_a_disk, 20);
}

}  // namespace
}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// The choice of schedule=auto, and its reason.
#include "engine/plan/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "desk.h"
#include "schedule/anchored/full_disk.h"

namespace anadrome::engine {
namespace {

struct Chooser : LoneDesk {
  explicit Chooser(std::int64_t field_bytes = kMiB, std::size_t fields_more = 0)
      : LoneDesk(field_bytes), more(fields_more, state) {
    options.memory = 10 * field_bytes;
    for (std::size_t i = 0; i < fields_more; ++i)
      add(("u" + std::to_string(i)).c_str(), ANADROME_ROLE_STATE, more[i]);
    fields.begin_sweep();
  }
  // The schedule of the next sweep, and what is said of it.
  std::string chosen(std::int64_t steps) {
    SweepPlan next = plan("auto", steps);
    choice.choose(next, sweep);
    return next.schedule->name + (": " + sweep.chosen);
  }
  std::vector<std::vector<unsigned char>> more;
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
  desk.options.checkpoints = 9;
  EXPECT_EQ(desk.chosen(9), "store_all: 9 of 9 states fit: all of them");
  desk.options.checkpoints = 3;
  EXPECT_EQ(desk.chosen(9), "async: checkpoints=3 of 9 states");
  desk.options.checkpoints = -1;
  desk.options.resume = true;
  EXPECT_EQ(desk.chosen(9), "async: resume=on wants files");
  desk.options.keep = true;
  EXPECT_EQ(desk.chosen(9), "async: keep=on wants files");
  desk.options.schedule = schedule::find_schedule("revolve");
  EXPECT_TRUE(desk.chosen(9).starts_with("revolve")) << "the option says so";
}

// Forward steps of a sweep that begins so, played to its end; where n is not known, it ends there.
std::int64_t steps_of(Chooser& desk, const schedule::Entry& entry, std::int64_t n, bool known,
                      double transfer) {
  const SweepPlan plan = desk.planned(entry.name, known ? n : schedule::kUnknown);
  schedule::Measured measured{
      .costs = {.forward = 1, .adjoint = 1, .write = transfer, .read = transfer},
      .write_times_known = true,
      .of_earlier_sweep = true,
      .agreement = 1};
  for (std::int64_t steps = 0;;) {
    const schedule::Action action = plan.sweep->next();
    if (std::holds_alternative<schedule::Done>(action)) return steps;
    if (std::holds_alternative<schedule::Decide>(action))
      schedule::decide_at_once(*plan.sweep, measured);
    const auto* const advance = std::get_if<schedule::Advance>(&action);
    if (advance == nullptr) continue;
    const bool ends = plan.sweep->course().steps == schedule::kUnknown && advance->last >= n;
    if (ends) plan.sweep->finish_forward(n);
    steps += (ends ? n : advance->last) - advance->first;
  }
}

// Every step counted: of what auto takes, on a disk that is no burden and on one that is of no use,
// and of Revolve. Where n is not known, the intervals of a disk of no use cost a second sweep.
TEST(Choice, RunsNoMoreStepsThanRevolveInTheSameMemory) {
  const schedule::Entry& revolve = *schedule::find_schedule("revolve");
  constexpr double kFree = 0, kUseless = 1e9;
  std::map<std::string, int> taken;
  for (const std::int64_t bytes : {8, 320, 1000, 4096, 5000, 65'536, 500'000, 1'048'576}) {
    for (const std::int64_t slots : {2, 3, 5, 20, 200}) {
      Chooser desk(slots == 5 ? std::max<std::int64_t>(bytes / 4, 1) : bytes, slots == 5 ? 3 : 0);
      desk.options.memory = memory_for_states(desk.agreement, desk.fields.state(), slots);
      for (const std::int64_t n : {2, 30, 300, slots == 20 ? 10'000 : 1'000}) {
        for (const bool known : {true, false}) {
          SweepPlan next = desk.plan("auto", known ? n : schedule::kUnknown);
          desk.choice.choose(next, desk.sweep);
          SCOPED_TRACE(std::to_string(bytes) + " bytes, " + std::to_string(slots) + " slots, n " +
                       std::to_string(n) + (known ? ": " : ", not known: ") + next.schedule->name);
          ++taken[next.schedule->name];
          const std::int64_t most = steps_of(desk, revolve, n, known, kFree);
          EXPECT_LE(steps_of(desk, *next.schedule, n, known, kFree), most);
          EXPECT_LE(steps_of(desk, *next.schedule, n, known, kUseless), known ? most : 2 * most);
        }
      }
    }
  }
  for (const char* name : {"store_all", "revolve", "async"}) EXPECT_GT(taken[name], 20) << name;
}

}  // namespace
}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/anchored/interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "replay.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

constexpr Overlap kAll{true, true}, kNone{false, false}, kWrites{true, false};
constexpr std::int64_t kNoEnd = std::int64_t{1} << 61;

std::string text(const StepCosts& costs, std::int64_t slots, Overlap overlapped) {
  return "f " + std::to_string(costs.forward) + ", b " + std::to_string(costs.adjoint) + ", w " +
         std::to_string(costs.write) + ", r " + std::to_string(costs.read) + ", s " +
         std::to_string(slots) + (overlapped.writes ? ", writes overlap" : "") +
         (overlapped.reads ? ", reads overlap" : "");
}

// A cost a rounding error above another one is the same.
bool no_worse(double seconds, double other) { return seconds <= other * (1 + 1e-9); }

double least_seconds(const StepCosts& costs, std::int64_t slots, Overlap overlapped,
                     std::int64_t least, std::int64_t most) {
  double best = seconds_per_step(costs, least, slots, overlapped);
  for (std::int64_t interval = least + 1; interval <= most; ++interval) {
    best = std::min(best, seconds_per_step(costs, interval, slots, overlapped));
  }
  return best;
}

class RandomCosts : public Draw {
 public:
  RandomCosts() : Draw(1806) {}
  // f from a microsecond to a second, b from nothing to 5 f, w and r up to `most_hidden` steps.
  StepCosts costs(double most_hidden) {
    Draw& below = *this;
    StepCosts costs;
    costs.forward = std::pow(10.0, -6.0 * fraction());
    costs.adjoint = below(5) == 0 ? 0 : costs.forward * 5 * fraction();
    costs.write = below(10) == 0 ? 0 : costs.forward * std::pow(most_hidden, fraction());
    costs.read = below(10) == 0 ? 0 : costs.forward * std::pow(most_hidden, fraction());
    if (below(2) == 0) {
      costs.write_taken = costs.write * fraction();
      costs.read_taken = costs.read * fraction();
    }
    return costs;
  }
  std::int64_t slots() { return 1 + (*this)((*this)(4) == 0 ? 300 : 8); }
  Overlap overlap() { return {(*this)(2) == 0, (*this)(2) == 0}; }
};

// 30 steps on memory for five states, a disk that takes 60 steps to write one: no anchor pays, and
// the block that would be read ahead is better used for a checkpoint.
TEST(PlanInRam, IsCheaperThanIntervalsForAShortRest) {
  const StepCosts costs{1, 2, 60, 60};
  const SharedMemory memory{5, 1, true};
  const AsyncPlan in_ram = plan_in_ram(costs, memory, 30, false, 0);
  EXPECT_EQ(in_ram.slots, 5);
  EXPECT_EQ(in_ram.interval, 30);
  EXPECT_DOUBLE_EQ(30 * in_ram.seconds_per_step,
                   static_cast<double>(extra_advances(31, 5)) + 30 * 2);
  EXPECT_LT(in_ram.seconds_per_step, best_plan(costs, memory, 1, 30).seconds_per_step);
}

TEST(PlanInRam, IsDearerThanIntervalsForALongRest) {
  const StepCosts costs{1, 2, 8, 8};
  const SharedMemory memory{5, 1, true};
  EXPECT_GT(plan_in_ram(costs, memory, 3000, false, 0).seconds_per_step,
            best_plan(costs, memory, 1, 3000).seconds_per_step);
  EXPECT_EQ(plan_in_ram(costs, memory, 0, true, 0).interval, 1) << "nothing is left";
}

TEST(SecondsPerStep, HidesTransfersUnderTheComputation) {
  // I = 4, s = 3: E = 3. Forward 4 f = 8 hides the write of 7; reverse 3 f + 4 b = 18 hides the
  // read.
  EXPECT_DOUBLE_EQ(seconds_per_step({2, 3, 7, 17}, 4, 3, kAll), 2 + 18 / 4.0);
  EXPECT_DOUBLE_EQ(seconds_per_step({2, 3, 9, 17}, 4, 3, kAll), 9 / 4.0 + 18 / 4.0);
  EXPECT_DOUBLE_EQ(seconds_per_step({2, 3, 7, 19}, 4, 3, kAll), 2 + 19 / 4.0);
}

TEST(SecondsPerStep, CountsWhatHiddenTransfersTakeFromTheComputation) {
  // 8 + 1 of computation hide the write of 7, 18 + 2 the read of 17.
  EXPECT_DOUBLE_EQ(seconds_per_step({2, 3, 7, 17, 1, 2}, 4, 3, kAll), 9 / 4.0 + 20 / 4.0);
  EXPECT_DOUBLE_EQ(seconds_per_step({2, 3, 7, 17, 1, 2}, 4, 3, kNone), 2 + (7 + 18 + 17) / 4.0);
}

TEST(BestInterval, IsTheBestWithinItsLimits) {
  RandomCosts random;
  for (int trial = 0; trial < 1500; ++trial) {
    const bool open = trial % 8 == 0;
    const StepCosts costs = random.costs(open ? 200 : 100);
    const std::int64_t slots = random.slots();
    const Overlap overlapped = random.overlap();
    const std::int64_t least = open ? 1 : 1 + random(60);
    const std::int64_t most = open ? 5000 : least + random(100);
    const std::int64_t best = best_interval(costs, slots, overlapped, least, open ? kNoEnd : most);
    ASSERT_GE(best, least);
    ASSERT_TRUE(open || best <= most);
    ASSERT_TRUE(no_worse(seconds_per_step(costs, best, slots, overlapped),
                         least_seconds(costs, slots, overlapped, least, most)))
        << text(costs, slots, overlapped) << ": " << best << " of " << least << " .. " << most;
  }
}

// No other interval takes less, by the same model.
TEST(BestInterval, IsNearlyTheBestWithTapesAndWithPasses) {
  struct Given {
    double read, write, passes;
    std::int64_t slots, tape;
    double factor;
  };
  std::vector<Given> all;
  for (const double write : {0.5, 3.0, 8.0, 30.0}) {
    for (const std::int64_t slots : {2, 4, 6, 9}) {
      for (const std::int64_t tape : {1, 4}) all.push_back({write, write, 0, slots, tape, 1.0001});
    }
    for (const double read : {0.2, 1.0, 3.0, 12.0}) {
      for (const double passes : {1.0, 6.0, 40.0}) all.push_back({read, write, passes, 6, 0, 1.02});
    }
  }
  for (const Given& given : all) {
    StepCosts costs = {1, 2, given.write, given.read, 0, 0};
    costs.passes = given.passes;
    if (given.passes > 0) costs.visit = 0.7;
    const auto seconds = [&](std::int64_t interval) {
      return seconds_per_step(costs, interval, given.slots, kAll, given.tape);
    };
    const std::int64_t best = best_interval(costs, given.slots, kAll, 1, 2000, given.tape);
    for (std::int64_t interval = 1; interval <= 300; ++interval) {
      ASSERT_LE(seconds(best), seconds(interval) * given.factor)
          << text(costs, given.slots, kAll) << ", tapes of " << given.tape << ", passes "
          << given.passes << ": " << interval << " for " << best;
    }
  }
}

TEST(BestInterval, IsNoWorseThanItsNeighboursWhenItIsLong) {
  RandomCosts random;
  for (int trial = 0; trial < 500; ++trial) {
    const StepCosts costs = random.costs(1e9);
    const std::int64_t slots = random.slots();
    const Overlap overlapped = random.overlap();
    const std::int64_t interval = best_interval(costs, slots, overlapped, 1, kNoEnd);
    const double seconds = seconds_per_step(costs, interval, slots, overlapped);
    for (const double stretch : {0.5, 0.9, 0.999, 1.001, 1.1, 2.0}) {
      const auto other = static_cast<std::int64_t>(static_cast<double>(interval) * stretch);
      for (const std::int64_t neighbour : {other - 1, other, other + 1}) {
        if (neighbour < 1) continue;
        ASSERT_TRUE(no_worse(seconds, seconds_per_step(costs, neighbour, slots, overlapped)))
            << text(costs, slots, overlapped) << ": " << interval << ", " << neighbour;
      }
    }
  }
}

TEST(BestPlan, IsTheBestOfAllDepthsOrNearlySoAndDeeper) {
  RandomCosts random;
  for (int trial = 0; trial < 300; ++trial) {
    const StepCosts costs = random.costs(1e3);
    const SharedMemory memory{1 + random(20), random(3) == 0 ? 64 : 1, random(4) != 0};
    const AsyncPlan plan = best_plan(costs, memory, 1, kNoEnd);
    ASSERT_EQ(plan.slots, memory.slots(plan.prefetch_depth));
    ASSERT_GE(plan.slots, 1);
    ASSERT_DOUBLE_EQ(plan.seconds_per_step, seconds_per_step(costs, memory, plan));
    if (!memory.overlaps) {
      ASSERT_EQ(plan.prefetch_depth, 0);
    }
    for (std::int64_t depth = 0; depth < memory.blocks && depth <= 4; ++depth) {
      const Overlap overlap{memory.overlaps, memory.overlaps && depth > 0};
      const std::int64_t interval = best_interval(costs, memory.slots(depth), overlap, 1, kNoEnd);
      const double seconds = seconds_per_step(costs, interval, memory.slots(depth), overlap);
      ASSERT_LE(plan.seconds_per_step, seconds * 1.00501)
          << text(costs, memory.slots(depth), overlap);
    }
  }
}

TEST(BestPlan, ReadsAheadWhereMemoryBuysNothingElse) {
  // Every state is an anchor: checkpoints between anchors do not exist.
  EXPECT_EQ(best_plan({1, 2, 0.5, 0.5}, {11, 1, true}, 1, kNoEnd).prefetch_depth, 4);
  EXPECT_EQ(best_plan({1, 2, 0.5, 0.5}, {11, 1, false}, 1, kNoEnd).prefetch_depth, 0);
  // An interval of 100 steps: the third slot saves far more than a read that is waited for costs.
  EXPECT_EQ(best_plan({1, 2, 100, 1}, {3, 1, true}, 1, kNoEnd).prefetch_depth, 0);
}

TEST(BestInterval, HasAnAnswerToWhatMakesLittleSense) {
  for (const Overlap overlapped : {kAll, kNone, kWrites}) {  // times that are not measured yet
    EXPECT_EQ(best_interval({0, 0, 0, 0}, 3, overlapped, 1, 1000), 1);
    EXPECT_GE(best_interval({0, 0, 1, 1}, 3, overlapped, 1, 1000), 1);
    EXPECT_LE(best_interval({0, 0, 1, 1}, 3, overlapped, 1, 1000), 1000);
  }
  EXPECT_EQ(best_interval({1, 2, 50, 50}, 5, kAll, 7, 3), 7);
  EXPECT_EQ(best_interval({1, 2, 0, 0}, 5, kAll, -4, 3), 1);
  // Up to s steps are reversed at one advance each, so that nothing but transfers is saved.
  EXPECT_EQ(best_interval({1, 2, 10, 10}, 100000, kNone, 1, kNoEnd), 100001);
}

TEST(TailAdvances, AreWhatIsLeftAfterTheForwardSweep) {
  for (std::int64_t s = 1; s <= 20; ++s) {  // none exactly where every state has a slot
    for (std::int64_t steps = 0; steps <= 40; ++steps) {
      ASSERT_EQ(tail_advances(steps, s, false) == 0, steps <= s) << steps << ", s " << s;
      ASSERT_EQ(tail_advances(steps, s, true) == 0, steps <= s + 1) << steps << ", s " << s;
    }
  }
  // n = 100, s = 5: E(101, 5) - 100 without a tape, E(100, 5) - 99 with one.
  EXPECT_EQ(tail_advances(100, 5, false), extra_advances_clamped(101, 5) - 100);
  EXPECT_EQ(tail_advances(100, 5, true), 316 - 99);
}

TEST(LongestTail, IsWhereTheNextAnchorBeginsToPay) {
  for (std::int64_t interval = 1; interval <= 40; ++interval) {
    for (std::int64_t s = 1; s <= 12; ++s) {
      for (const bool record : {false, true}) {
        const auto pays = [&](std::int64_t steps) {
          return tail_advances(steps, s, record) >
                 extra_advances_clamped(interval, s) + tail_advances(steps - interval, s, record);
        };
        std::int64_t longest = interval;
        while (!pays(longest + 1)) ++longest;
        ASSERT_EQ(longest_tail(interval, s, record), longest)
            << "I " << interval << ", s " << s << ", record " << record;
        for (std::int64_t steps = longest + 1; steps < longest + 3 * interval; ++steps) {
          ASSERT_TRUE(pays(steps)) << "I " << interval << ", s " << s << ", " << steps;
        }
      }
    }
  }
  EXPECT_EQ(longest_tail(std::int64_t{1} << 40, 1, false), std::int64_t{1} << 40);
}

}  // namespace
}  // namespace anadrome::schedule

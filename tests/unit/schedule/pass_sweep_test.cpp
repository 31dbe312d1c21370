// SPDX-License-Identifier: BSD-2-Clause
// Passes after a sweep: every step once, in order, whatever was left; and how many steps it takes.
#include "schedule/passes/pass_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "counted_allocations.h"
#include "pass_search.h"
#include "replay.h"
#include "schedule/stack/plain_planners.h"

namespace anadrome::schedule {
namespace {

constexpr Direction kForward = Direction::kForward, kReverse = Direction::kReverse;

AnchoredCase passes_in_ram(std::int64_t steps, std::int64_t slots, bool record = false) {
  return {.steps = steps, .slots = slots, .leaves_states = true, .record = record};
}

AnchoredCase anchored(std::int64_t steps, std::int64_t slots, std::int64_t interval,
                      bool record = false) {
  AnchoredCase given = passes_in_ram(steps, slots, record);
  given.anchored = given.all_anchors = true;
  given.interval = interval;
  return given;
}

Remains swept(const AnchoredCase& given, std::int64_t steps) {
  AskedSweep sweep(given);
  replay(sweep, steps, {}, {});
  return *sweep->remains();
}

/// Passes over what a sweep has left.
struct Passes {
  explicit Passes(const Remains& remains)
      : restorable(std::max<std::int64_t>(remains.anchors.count(), 1)),
        sweep(remains),
        driver(sweep, remains) {}
  Taken pass(Direction direction) {
    return driver.pass({.direction = direction, .restorable = restorable});
  }

  std::int64_t restorable;
  PassSweep sweep;
  Driver driver;
};

TEST(PassSweep, WithAnAnchorOrRoomForEveryStateRunsNoStep) {
  for (const AnchoredCase& given :
       {anchored(30, 1, 1), anchored(30, 2, 1), anchored(30, 5, 1), passes_in_ram(30, 30)}) {
    Passes passes(swept(given, 30));
    for (const Direction direction : {kForward, kReverse, kReverse, kForward, kForward}) {
      const Taken taken = passes.pass(direction);
      EXPECT_EQ(taken.advances, 0) << given.slots << " slots";
      EXPECT_TRUE(given.anchored || taken.keeps == 0);
    }
  }
}

// An anchor that is written late is one for the next pass, though its state was kept in RAM before.
TEST(PassSweep, GoesThroughAnAnchorWhoseStateIsInRamToo) {
  Remains remains = swept(anchored(30, 4, 5), 30);
  remains.in_ram = {{.tier = kRamTier, .step = 10, .place = 1, .room = {1, 1}}};
  for (const bool as_read : {true, false}) {
    PassSweep sweep(remains);
    sweep.begin_pass({.direction = kForward, .restorable = 5, .as_read = as_read});
    std::int64_t visits = 0, left = 1000;
    for (Action action = sweep.next(); !std::holds_alternative<Done>(action) && left > 0; --left) {
      visits += std::holds_alternative<Visit>(action) ? 1 : 0;
      action = sweep.next();
    }
    EXPECT_EQ(visits, 30);
    EXPECT_GT(left, 0) << "it goes in a circle";
  }
}

TEST(PassSweep, OfKeptTapesRunsNoStep) {
  StackOptions options = {
      .steps = 12, .units = 50, .tape_units = 3, .record = true, .retain = true};
  StackSweep sweep(options, std::make_unique<StoreTapesPlanner>());
  Driver(sweep, rules_of(options, sweep.planner()), {.steps = 12}).sweep();
  Passes passes(*sweep.remains());
  for (const Direction direction : {kForward, kReverse, kForward}) {
    const Taken taken = passes.pass(direction);
    EXPECT_EQ(taken.advances + taken.recorded, 0);
    EXPECT_EQ(taken.visits + taken.adjoints, 12);
  }
  const Taken again = passes.driver.rewind(1);
  EXPECT_EQ(again.advances + again.recorded, 0);
  EXPECT_EQ(passes.pass(kForward).visits, 12);
}

TEST(PassSweep, GivesEveryStepOnceInEveryPass) {
  Draw below(31);
  for (int trial = 0; trial < 3000; ++trial) {
    const std::int64_t n = below(40), slots = 1 + below(8);
    const bool record = below(2) == 0;
    AnchoredCase given = passes_in_ram(n, slots, record);
    if (below(3) > 0) given = anchored(n, slots, 1 + below(9), record);
    if (below(4) == 0) given.most_anchors = 1 + below(5);
    if (below(4) == 0) given.all_anchors = false;
    SCOPED_TRACE("trial " + std::to_string(trial) + ", n " + std::to_string(n) + ", slots " +
                 std::to_string(slots) + ", interval " + std::to_string(given.interval) +
                 (record ? ", record" : ""));
    Passes passes(swept(given, n));
    std::int64_t restorable = passes.restorable;
    const std::int64_t states_per_block = 1 + below(3);
    for (int number = 0; number < 6; ++number) {
      if (below(6) == 0) restorable = std::max<std::int64_t>(restorable - 1, 1);
      if (below(5) == 0) {
        EXPECT_EQ(passes.driver.rewind(passes.restorable).adjoints, n);
        continue;
      }
      const Pass pass = {.direction = below(2) == 0 ? kForward : kReverse,
                         .restorable = restorable,
                         .states_per_block = states_per_block,
                         .stride = 1 + below(3),
                         .as_read = below(4) == 0};
      passes.restorable = restorable;
      const Taken taken = passes.driver.pass(pass);
      EXPECT_EQ(pass.direction == kForward ? taken.visits : taken.adjoints, n);
    }
  }
}

TEST(PassSweep, GoesOnWithoutTheAnchorsThatAreLost) {
  Draw below(7);
  int lost = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const std::int64_t n = below(40), slots = 1 + below(5), interval = 1 + below(6);
    Passes passes(swept(anchored(n, slots, interval, below(2) == 0), n));
    const std::int64_t states_per_block = 1 + below(3);
    passes.driver.loses = [&](std::int64_t number) {
      const bool is_lost = number >= states_per_block && below(4) == 0;
      lost += is_lost ? 1 : 0;
      return is_lost;
    };
    for (int number = 0; number < 4; ++number) {
      const Taken taken = passes.driver.pass({.direction = below(2) == 0 ? kForward : kReverse,
                                              .restorable = passes.restorable,
                                              .states_per_block = states_per_block});
      EXPECT_EQ(taken.visits + taken.adjoints, n) << "trial " << trial;
    }
  }
  EXPECT_GT(lost, 1000);
}

// As in AsyncPlanner: no rank may lack the memory to go on.
TEST(PassSweep, LosesAnchorsButX0WithoutAllocating) {
  PassSweep sweep(swept(anchored(400, 2, 1), 400));
  const std::int64_t anchors = sweep.anchors().count();
  sweep.begin_pass({.restorable = anchors});
  const std::int64_t before = test::allocations();
  for (std::int64_t number = 1; number < anchors; ++number) EXPECT_TRUE(sweep.lose(number));
  EXPECT_EQ(test::allocations(), before);
  EXPECT_FALSE(sweep.lose(0));
}

TEST(PassSweep, LosesNoMoreBlocksThanItHasRoomFor) {
  constexpr std::int64_t kAnchors = 70000, kMost = 65536;
  Remains remains;
  remains.course.steps = kAnchors;
  remains.units = 1;
  remains.anchors = AnchorList::of(kAnchors, {{0, 0, 1}});
  PassSweep sweep(remains);
  sweep.begin_pass({.restorable = kAnchors});
  for (std::int64_t number = 1; number <= kMost; ++number) ASSERT_TRUE(sweep.lose(number));
  EXPECT_FALSE(sweep.lose(kMost + 1));
}

// A codec has changed the anchors: what is between two of them is run from the lower one.
TEST(PassSweep, AsReadLeavesOutNoAnchor) {
  for (const bool record : {false, true}) {
    Passes passes(swept(anchored(20, 3, 4, record), 20));
    std::vector<std::int64_t> from_disk;
    std::int64_t last = -1;
    passes.driver.sees = [&](const Action& action) {
      if (const auto* const kept = std::get_if<Restore>(&action)) {
        last = kept->step;
        if (kept->tier == kDiskTier) from_disk.push_back(kept->step);
      }
      if (const auto* const visit = std::get_if<Visit>(&action)) {
        EXPECT_LE(visit->step - last, 4);
      }
    };
    passes.driver.pass({.direction = kForward, .restorable = 5, .as_read = true});
    EXPECT_EQ(from_disk, (std::vector<std::int64_t>{0, 4, 8, 12, 16}));
  }
}

TEST(PassSweep, OfABillionStepsCountsWhatIsLeftWithoutPlayingIt) {
  const std::int64_t n = 1'000'000'000;
  Remains remains;
  remains.course.steps = n;
  remains.units = 20;
  remains.anchors = AnchorList::of(n / 1000, {{0, 0, 1000}});
  PassSweep sweep(remains);
  sweep.begin_pass({.direction = kForward, .restorable = n / 1000});
  EXPECT_EQ(sweep.advances_remaining(), n - n / 1000);
  while (!std::holds_alternative<Visit>(sweep.next())) {
  }
  EXPECT_EQ(sweep.course().adjoints_left, n - 1);
}

// ---- how many steps ----

// Anchors as a run puts them that has to do with so many: each interval is the rest's share.
std::int64_t planned(const SmallPasses& problem) {
  const std::int64_t n = problem.steps;
  AnchoredCase given = passes_in_ram(n, problem.slots);
  ReplayOptions options;
  if (problem.anchors > 0) {
    given = anchored(n, problem.slots, 0);
    given.most_anchors = problem.anchors;
    options.decide = [n, left = problem.anchors](std::int64_t live) mutable {
      const std::int64_t intervals = left--;
      return Answer{.steps = std::max<std::int64_t>((n - live + intervals - 1) / intervals, 1)};
    };
  }
  AskedSweep sweep(given);
  std::int64_t steps = replay(sweep, n, options, {}).front().advances;
  Passes passes(*sweep->remains());
  for (const Direction direction : problem.passes) steps += passes.pass(direction).advances;
  return steps;
}

// x_0 and x_20 are anchors, of 22 steps. Places above x_20 are free for the steps below it once
// those above are reversed; a pass that did not count on them would run a step more in both cases.
TEST(PassSweep, CountsOnPlacesThatAreFreedAbove) {
  for (const auto& [slots, steps] : {std::pair(3, 35), std::pair(5, 18)}) {
    AnchoredCase given = anchored(22, slots, 0);
    given.most_anchors = 2;
    ReplayOptions options;
    options.decide = [](std::int64_t live) { return Answer{.steps = live == 0 ? 20 : 2}; };
    AskedSweep sweep(given);
    replay(sweep, 22, options, {});
    Passes passes(*sweep->remains());
    passes.pass(kForward);
    EXPECT_EQ(passes.pass(kReverse).advances, steps) << slots << " slots";
  }
}

std::string text(const SmallPasses& problem) {
  std::string text = std::to_string(problem.steps) + " steps, " + std::to_string(problem.slots) +
                     " slots, " + std::to_string(problem.anchors) + " anchors, passes ";
  for (const Direction direction : problem.passes) text += direction == kForward ? 'F' : 'R';
  return text;
}

struct PassRatios {
  double sum = 0, worst = 1;
  int count = 0;

  void add(double ratio) {
    sum += ratio;
    worst = std::max(worst, ratio);
    ++count;
  }
  double mean() const { return sum / count; }
  void print(const char* name) const {
    std::printf("%s: %.3f of the optimum in the mean, %.3f at worst\n", name, mean(), worst);
  }
};

// Forward and reverse in turns, as products with a Hessian take them, and any other order. With no
// anchor but x_0 passes in turns take the fewest steps that there are; with more the sweep keeps no
// state in RAM on its way to the next anchor. docs/theory-passes.md has the two lines.
TEST(PassSweep, TakesNearlyTheFewestStepsThatThereAre) {
  PassRatios in_turns, any_order;
  for (int n = 1; n <= 9; ++n) {
    for (int slots = 1; slots <= 3; ++slots) {
      for (int anchors = 0; anchors <= 3; ++anchors) {
        for (int k = 1; k <= 3; ++k) {
          for (int order = 0; order < 1 << k; ++order) {
            SmallPasses problem = {.steps = n, .slots = slots, .anchors = anchors, .passes = {}};
            bool alternate = true;
            for (int i = 0; i < k; ++i) {
              problem.passes.push_back((order >> i & 1) != 0 ? kReverse : kForward);
              alternate = alternate && ((order >> i & 1) != 0) == (i % 2 == 1);
            }
            const std::int64_t fewest = fewest_steps(problem), steps = planned(problem);
            ASSERT_GE(steps, fewest) << text(problem);
            const double ratio = static_cast<double>(steps) / static_cast<double>(fewest);
            any_order.add(ratio);
            if (!alternate) continue;
            in_turns.add(ratio);
            if (anchors <= 1) {
              EXPECT_EQ(steps, fewest) << text(problem);
            }
          }
        }
      }
    }
  }
  in_turns.print("forward and reverse in turns");
  any_order.print("any order");
  EXPECT_LE(in_turns.mean(), 1.03);
  EXPECT_LE(any_order.mean(), 1.04);
  EXPECT_GT(in_turns.count, 300);
}

}  // namespace
}  // namespace anadrome::schedule

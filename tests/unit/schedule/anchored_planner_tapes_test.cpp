// SPDX-License-Identifier: BSD-2-Clause
// Sweeps with anchors that keep tapes beside states between anchors.
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "replay.h"
#include "schedule/anchored/interval.h"

namespace anadrome::schedule {
namespace {

AnchoredCase taped(std::int64_t steps, std::int64_t slots, std::int64_t interval,
                   std::int64_t tape_units) {
  return {.steps = steps,
          .slots = slots,
          .anchored = true,
          .interval = interval,
          .record = true,
          .tape_units = tape_units};
}

std::string text_of_taped(const AnchoredCase& options) {
  std::ostringstream out;
  out << "n " << options.steps << ", s " << options.slots << ", I " << options.interval << ", l "
      << options.tape_units << ", anchors <= " << options.most_anchors << ", all "
      << options.all_anchors;
  return out.str();
}

template <class Body>
void for_all_small_taped_plans(Body&& body) {
  for (std::int64_t n = 0; n <= 40; ++n) {
    for (const std::int64_t interval : {1, 2, 3, 4, 7, 13}) {
      for (const std::int64_t s : {1, 2, 3, 4, 5, 7, 12}) {
        for (const std::int64_t l : {1, 2, 4}) {
          body(taped(n, s, interval, l));
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(AnchoredPlannerTapes, BreakNoRuleAndNeverAdvanceMoreThanWithoutTapes) {
  for_all_small_taped_plans([](AnchoredCase options) {
    for (const std::int64_t most_anchors : {std::int64_t{2}, kNoLimit}) {
      options.most_anchors = most_anchors;
      const Taken totals = replay(options, options.steps);
      AnchoredCase without = options;
      without.tape_units = 0;
      ASSERT_EQ(totals.recorded, options.steps) << text_of_taped(options);
      ASSERT_LE(totals.advances, replay(without, options.steps).advances) << text_of_taped(options);
    }
  });
}

TEST(AnchoredPlannerTapes, BreakNoRuleWhereTheEndIsNotKnown) {
  for_all_small_taped_plans([](AnchoredCase options) {
    const std::int64_t n = options.steps;
    options.steps = kUnknown;
    for (const bool late : {false, true}) {
      ReplayOptions replayed;
      replayed.finish_late = late;
      const Taken totals = replay(options, n, replayed);
      ASSERT_EQ(totals.recorded, n) << text_of_taped(options) << " steps " << n;
    }
  });
}

TEST(AnchoredPlannerTapes, BetweenAnchorsTakeTheOptimum) {
  for_all_small_taped_plans([](AnchoredCase options) {
    options.most_anchors = 1;
    const std::int64_t n = options.steps;
    const Taken totals = replay(options, n);
    const auto optimum = n == 0 ? 0 : advances_from_anchor(n, options.slots, options.tape_units);
    ASSERT_EQ(static_cast<uint128>(totals.advances), static_cast<uint128>(n) + optimum)
        << text_of_taped(options);
  });
}

TEST(AnchoredPlannerTapes, TakeTwoForwardStepsPerStepWhereAnIntervalFits) {
  AnchoredCase options = taped(400, 4, 4, 1);  // 2.75 without tapes and s = 3
  options.all_anchors = true;
  // 99 intervals run once on the way and once recorded; the last one is recorded in passing.
  EXPECT_EQ(replay(options, 400).advances, 400 + 396);
}

TEST(AnchoredPlannerTapes, FollowAnIntervalThatIsAskedForAndChanges) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 400; ++i) {
    AnchoredCase options = taped(static_cast<std::int64_t>(random() % 200),
                                 1 + static_cast<std::int64_t>(random() % 9), 0,
                                 1 + static_cast<std::int64_t>(random() % 4));
    options.most_slots = options.slots;
    const std::int64_t n = options.steps;
    if (i % 2 == 1) options.steps = kUnknown;
    ReplayOptions replayed;
    replayed.decide = [&](std::int64_t) {
      return Answer{random() % 4 == 0, 1 + static_cast<std::int64_t>(random() % 12)};
    };
    ASSERT_NO_THROW(replay(options, n, replayed)) << text_of_taped(options) << " steps " << n;
  }
}

TEST(AnchoredPlannerTapes, CanBeRewound) {
  for (const std::int64_t s : {1, 3, 60}) {
    const AnchoredCase options = taped(40, s, 6, 2);
    AskedSweep sweep(options);
    EXPECT_EQ(replay(sweep, 40, {}, {kNoLimit}).back().recorded, 40);
  }
}

TEST(AnchoredPlannerTapes, HaveABetterIntervalOrNone) {
  for (const double write : {0.5, 3.0, 8.0, 30.0}) {
    for (const std::int64_t slots : {2, 4, 6, 9}) {
      for (const std::int64_t l : {1, 4}) {
        const StepCosts costs = {1, 2, write, write, 0, 0};
        const std::int64_t best = best_interval(costs, slots, {true, true}, 1, 1000, l);
        const double seconds = seconds_per_step(costs, best, slots, {true, true}, l);
        for (std::int64_t interval = 1; interval <= 200; ++interval) {
          EXPECT_LE(seconds, seconds_per_step(costs, interval, slots, {true, true}, l) * 1.0001)
              << write << " s " << slots << " l " << l << " I " << interval << " best " << best;
        }
      }
    }
  }
}

}  // namespace
}  // namespace anadrome::schedule

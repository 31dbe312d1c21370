// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/mixed.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "exhaustive_search.h"
#include "reference_table.h"
#include "replay.h"

namespace anadrome::schedule {
namespace {

constexpr std::int64_t kHuge = kMostSteps - 1;

std::int64_t advances(std::int64_t n, std::int64_t units, std::int64_t tape, bool restarts) {
  return static_cast<std::int64_t>(mixed_advances(n, units, tape, restarts));
}

StackOptions mixed_options(std::int64_t n, std::int64_t units, std::int64_t tape, bool restarts) {
  return {
      .steps = n, .units = units, .tape_units = tape, .tape_restarts = restarts, .record = true};
}

void expect_what_was_promised(const StackOptions& options) {
  const Taken totals =
      replay(options, std::make_unique<MixedPlanner>(options.tape_units, options.tape_restarts));
  EXPECT_EQ(totals.advances,
            advances(options.steps, options.units, options.tape_units, options.tape_restarts))
      << "n " << options.steps << ", units " << options.units << ", tape " << options.tape_units
      << (options.tape_restarts ? ", restarts" : "");
  EXPECT_EQ(totals.recorded, options.steps);
  EXPECT_LE(totals.most_units, options.units);
}

TEST(MixedAdvances, AgreeWithMaddisonsTable) {
  const auto rows = reference_rows("mixed.csv", 3);
  ASSERT_EQ(rows.size(), 12u);
  for (const auto& row : rows) {
    EXPECT_EQ(row[0] + advances(row[0], row[1], 1, false), row[2])
        << "n " << row[0] << ", s " << row[1];
  }
}

TEST(MixedAdvances, AreTheLeastThatAnExhaustiveSearchFinds) {
  for (int n = 1; n <= 7; ++n) {
    for (std::int64_t tape = 1; tape <= 4; ++tape) {
      for (const std::int64_t units : {1, 2, 3, 4, 6, 8}) {
        for (const bool restarts : {false, true}) {
          SmallReversal problem = {
              .steps = n, .units = units, .tape_units = tape, .tape_restarts = restarts};
          ASSERT_EQ(advances(n, units, tape, restarts), least_extra_cost(problem))
              << "n " << n << ", units " << units << ", tape " << tape << ", " << restarts;
        }
      }
    }
  }
}

// By units that are free, then by steps.
using Costs = std::vector<std::vector<std::int64_t>>;
constexpr std::int64_t kNever = std::int64_t{1} << 50;

/// The recurrences, which the closed form solves: x_first is live only; held in RAM by one more
/// unit than are free; or held by what stays, a tape or a file.
struct Recurrences {
  Costs live, held, lasting;

  Recurrences(std::size_t n_end, std::size_t units_end, std::size_t tape, bool restarts)
      : live(units_end, std::vector<std::int64_t>(n_end, 0)), held(live), lasting(live) {
    for (std::size_t u = 0; u < units_end; ++u) {
      for (std::size_t n = 2; n < n_end; ++n) {
        const Costs& after_tape = restarts ? lasting : live;
        const std::int64_t kept = u >= 1 ? held[u - 1][n] : kNever;
        live[u][n] = std::min(kept, u >= tape ? after_tape[u - tape][n - 1] : kNever);
        held[u][n] = u + 1 >= tape ? after_tape[u + 1 - tape][n - 1] : kNever;
        lasting[u][n] = u >= tape ? after_tape[u - tape][n - 1] : kNever;
        for (std::size_t k = 1; k < n; ++k) {
          const std::int64_t beyond = static_cast<std::int64_t>(k) + live[u][n - k];
          held[u][n] = std::min(held[u][n], beyond + held[u][k]);
          lasting[u][n] = std::min(lasting[u][n], beyond + lasting[u][k]);
        }
      }
    }
  }
};

TEST(MixedAdvances, SolveTheRecurrences) {
  constexpr std::size_t kSteps = 161, kUnits = 20;
  for (const std::size_t tape : {1u, 2u, 3u, 5u, 8u}) {
    for (const bool restarts : {false, true}) {
      const Recurrences least(kSteps, kUnits, tape, restarts);
      MixedPlanner planner(static_cast<std::int64_t>(tape), restarts);
      for (std::size_t u = 0; u < kUnits; ++u) {
        for (std::size_t n = 2; n < kSteps; ++n) {
          Segment segment;
          segment.last = static_cast<std::int64_t>(n);
          segment.units = static_cast<std::int64_t>(u);
          const auto expect = [&](Place held, std::int64_t cost) {
            segment.held = held;
            ASSERT_EQ(static_cast<std::int64_t>(planner.advances(segment)), cost)
                << "n " << n << ", free " << u << ", tape " << tape << ", " << restarts;
          };
          if (u > 0) expect(Place::kNowhere, least.live[u][n]);
          expect(Place::kRam, least.held[u][n]);
          expect(Place::kDisk, least.lasting[u][n]);
          if (restarts) expect(Place::kTape, least.lasting[u][n]);
        }
      }
    }
  }
}

TEST(MixedPlanner, TakesWhatItPromisesWithATurnAndWithout) {
  for (std::int64_t n = 1; n <= 60; n += n < 20 ? 1 : 8) {
    for (const std::int64_t units : {1, 2, 3, 4, 6, 9}) {
      for (std::int64_t tape = 1; tape <= 4; ++tape) {
        for (const bool restarts : {false, true}) {
          StackOptions options = mixed_options(n, units, tape, restarts);
          expect_what_was_promised(options);
          options.turn = false;
          expect_what_was_promised(options);
          if (HasFailure()) return;
        }
      }
    }
  }
}

RC_GTEST_PROP(MixedPlanner, TakesWhatItPromisesOnLongerSweeps, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 600);
  const auto units = *rc::gen::inRange<std::int64_t>(2, 60);
  const auto tape = *rc::gen::inRange<std::int64_t>(1, 20);
  expect_what_was_promised(mixed_options(n, units, tape, *rc::gen::arbitrary<bool>()));
  RC_ASSERT(!::testing::Test::HasFailure());
}

// Where a table cannot reach: each answer is consistent with those for its parts.
TEST(MixedPlanner, SplitsOptimallyAllTheWayDownFromTheExtremes) {
  for (const std::int64_t n : {std::int64_t{10000}, std::int64_t{1000000000}, kHuge}) {
    for (const std::int64_t tape : {std::int64_t{1}, std::int64_t{2}, std::int64_t{7},
                                    std::int64_t{1000}, std::int64_t{1} << 40}) {
      for (const std::int64_t units :
           {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{8}, std::int64_t{50},
            std::int64_t{3000}, std::int64_t{1000000000}, kHuge}) {
        for (const bool restarts : {false, true}) {
          MixedPlanner planner(tape, restarts);
          Segment here;
          here.last = n;
          here.units = units;
          for (int depth = 0; depth < 40 && here.last - here.first >= 2; ++depth) {
            const uint128 cost = planner.advances(here);
            const Placement placement = planner.place(here);
            Segment beyond = here, left = here;
            uint128 parts = 0;
            if (placement.place == Place::kRam) {
              ASSERT_EQ(here.held, Place::kNowhere);
              beyond.held = Place::kRam;
              --beyond.units;
            } else if (placement.place == Place::kTape) {
              beyond.units += (here.held == Place::kRam ? 1 : 0) - tape;
              beyond.held = restarts ? Place::kTape : Place::kNowhere;
              ++beyond.first;
            } else {
              ASSERT_GE(placement.advance, 1);
              ASSERT_LT(placement.advance, here.last - here.first);
              left.last = beyond.first += placement.advance;
              beyond.held = Place::kNowhere;
              parts = static_cast<uint128>(placement.advance) + planner.advances(left);
            }
            ASSERT_GE(beyond.units, 0);
            if (beyond.last - beyond.first > 1) parts += planner.advances(beyond);
            ASSERT_TRUE(parts == cost) << n << " " << units << " " << tape << " " << depth;
            const bool splits = left.last < here.last;
            here = splits && depth % 3 == 0 && left.last - left.first >= 2 ? left : beyond;
          }
        }
      }
    }
  }
}

TEST(MixedAdvances, AreExactAtTheExtremes) {
  // n (n - 1) / 2 - 1 with one unit, as Maddison's M(n, 1) has it.
  const auto n = static_cast<uint128>(kMostSteps);
  EXPECT_TRUE(mixed_advances(kMostSteps, 1, 1, false) == n * (n - 1) / 2 - 1);
  EXPECT_TRUE(mixed_advances(10000, 1000000000, 1, false) == 0);
  EXPECT_TRUE(mixed_advances(kMostSteps, kMostSteps, 1, false) == 0);
  EXPECT_TRUE(mixed_advances(1, 0, 1, false) == 0);
  EXPECT_TRUE(mixed_advances(0, 0, 1, false) == 0);
}

TEST(MixedAdvances, WithoutMemoryAreAnError) {
  for (const auto& [n, units, tape] : {std::tuple{2, 0, 1}, {-1, 1, 1}, {2, 1, 0}}) {
    const auto ask = [n = n, units = units, tape = tape] { mixed_advances(n, units, tape, false); };
    EXPECT_EQ(failure_from(ask).status, ANADROME_ERR_ARGUMENT) << n << units << tape;
  }
  StackOptions options = mixed_options(5, 0, 1, false);
  EXPECT_THROW(replay(options, std::make_unique<MixedPlanner>(1, false)), Error);
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Schedules for RAM and disk, whose writes and reads are waited for: their costs against a search
// that knows no schedule, and against the papers' recurrences; their sweeps under the rules.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "exhaustive_search.h"
#include "planners/two_tier/disk_revolve.h"
#include "planners/two_tier/multistage.h"
#include "replay.h"

namespace anadrome::schedule {
namespace {

/// Prices of all kinds: free, equal, dear to write, dear to read.
const std::vector<TwoTierCosts> kTwoTierCosts = {
    {1, 0, 0, 0}, {1, 1, 2, 2}, {1, 0, 1, 1},   {2, 5, 7, 3},   {3, 1, 0, 10}, {3, 2, 10, 0},
    {0, 1, 2, 3}, {0, 0, 0, 0}, {1, 0, 20, 20}, {5, 0, 1, 100}, {1, 3, 40, 1}, {7, 11, 13, 17},
};

struct TwoTierCase {
  std::int64_t steps, ram_slots, disk_slots;
};

std::string text(const TwoTierCase& given, const TwoTierCosts& costs = {}) {
  return "n " + std::to_string(given.steps) + ", RAM " + std::to_string(given.ram_slots) +
         ", disk " + std::to_string(given.disk_slots) + ", uf " + std::to_string(costs.advance) +
         ", w " + std::to_string(costs.write) + ", r " + std::to_string(costs.read);
}

// ---- what a sweep takes ----

/// The papers' problem, states only.
StackOptions options_of(const TwoTierCase& given) {
  return {.steps = given.steps,
          .units = given.ram_slots,
          .disk_slots = given.disk_slots,
          .turn = false};
}

TwoTierUse use_of(const Taken& taken) {
  return {static_cast<uint128>(taken.advances), static_cast<uint128>(taken.anchors),
          static_cast<uint128>(taken.anchor_restores)};
}

template <class Planner>
TwoTierUse replayed(const TwoTierCase& given, Planner planner) {
  return use_of(replay(options_of(given), std::make_unique<Planner>(std::move(planner))));
}

/// With the turn at its end a sweep of n steps costs what n + 1 steps do; with tapes, what n do.
template <class Planner>
void expect_turn_is_a_step(const TwoTierCase& given, const TwoTierCosts& costs, Planner turning,
                           Planner taping) {
  StackOptions options = options_of(given);
  options.turn = true;
  const uint128 promised = turning.cost();
  const Taken run = replay(options, std::make_unique<Planner>(std::move(turning)));
  // At the end x_0 is live again; that may take a read.
  const uint128 cost = two_tier_cost(given.steps + 1, use_of(run), costs);
  const bool read_again = run.anchors > 0 && cost == promised + static_cast<uint128>(costs.read);
  EXPECT_TRUE(cost == promised || read_again) << text(given, costs);
  options.record = true;
  const uint128 promised_taped = taping.cost();
  const Taken taped = replay(options, std::make_unique<Planner>(std::move(taping)));
  EXPECT_EQ(two_tier_cost(given.steps, use_of(taped), costs), promised_taped);
  EXPECT_EQ(taped.recorded, given.steps);
}

/// Puts x_0 on disk and runs `first_steps` before it asks another planner: a plan that is made when
/// a write was measured.
template <class Planner_after>
class FirstOnDisk final : public Planner {
 public:
  FirstOnDisk(std::int64_t first_steps, Planner_after planner)
      : first_steps_(first_steps), planner_(std::move(planner)) {}

  Placement place(const Segment& segment) override {
    if (segment.first > 0 || segment.last <= first_steps_) return planner_.place(segment);
    if (segment.held == Place::kNowhere) return {Place::kDisk, 0};
    return {Place::kNowhere, first_steps_};
  }
  uint128 advances(const Segment& segment) override {
    if (segment.first > 0 || segment.last <= first_steps_) return planner_.advances(segment);
    Segment right = segment, left = segment;
    left.last = right.first = first_steps_;
    right.held = Place::kNowhere;
    left.held = Place::kDisk;
    if (segment.held == Place::kNowhere) --left.disk_slots, --right.disk_slots;
    uint128 sum = static_cast<uint128>(first_steps_);
    if (right.last - right.first > 1) sum += planner_.advances(right);
    if (left.last > 1) sum += planner_.advances(left);
    return sum;
  }

 private:
  std::int64_t first_steps_;
  Planner_after planner_;
};

// ---- what it should take ----

uint128 least_by_search(const TwoTierCase& given, const TwoTierCosts& costs) {
  const SmallReversal problem = {
      .steps = static_cast<int>(given.steps),
      .units = given.ram_slots,
      .step_cost = std::vector<std::int64_t>(static_cast<std::size_t>(given.steps), costs.advance),
      .disk_slots = given.disk_slots,
      .write = costs.write,
      .read = costs.read};
  return static_cast<uint128>(least_extra_cost(problem) + given.steps * costs.adjoint);
}

constexpr std::int64_t kUnbounded = -1;

/// The papers' recurrences of 0 .. n steps, every split looked at: of H-Revolve, or of Disk-Revolve
/// where the disk has no end. Adjoints do not count.
std::vector<std::int64_t> by_recurrence(const TwoTierCase& given, const TwoTierCosts& costs) {
  const auto end = static_cast<std::size_t>(given.steps) + 1;
  std::vector<std::int64_t> ram(end, 0);
  for (std::size_t n = 2; n < end; ++n) {
    const auto steps = static_cast<std::int64_t>(n);
    ram[n] = given.ram_slots == 0 ? std::int64_t{1} << 40
                                  : extra_advances_clamped(steps, given.ram_slots) * costs.advance;
  }
  const auto from_x_0 = [&](std::size_t j) {
    return static_cast<std::int64_t>(j) * costs.advance + costs.read;
  };
  std::vector<std::int64_t> live = ram;
  if (given.disk_slots == kUnbounded) {
    std::vector<std::int64_t> kept = ram;
    for (std::size_t n = 2; n < end; ++n) {
      for (std::size_t j = 1; j < n; ++j) {
        kept[n] = std::min(kept[n], from_x_0(j) + ram[n - j] + kept[j]);
        live[n] = std::min(live[n], costs.write + from_x_0(j) + live[n - j] + kept[j]);
      }
    }
  }
  for (std::int64_t slots = 1; slots <= given.disk_slots; ++slots) {
    std::vector<std::int64_t> kept = ram, next = ram;
    for (std::size_t n = 2; n < end; ++n) {
      for (std::size_t j = 1; j < n; ++j) {
        kept[n] = std::min(kept[n], from_x_0(j) + live[n - j] + kept[j]);
      }
      next[n] = std::min(ram[n], costs.write + kept[n]);
    }
    live = next;
  }
  return live;
}

// ---- Disk-Revolve and H-Revolve ----

TEST(TwoTier, CostsTheLeastThatAnExhaustiveSearchFinds) {
  for (const TwoTierCosts& costs : kTwoTierCosts) {
    for (const std::int64_t n : {1, 2, 3, 4, 6, 8}) {
      for (std::int64_t c = 0; c <= 3; ++c) {
        for (std::int64_t d = c == 0 ? 1 : 0; d <= 2; ++d) {
          ASSERT_EQ(HRevolvePlanner(n, c, d, costs).cost(), least_by_search({n, c, d}, costs))
              << text({n, c, d}, costs);
        }
        if (n == 8) continue;
        ASSERT_EQ(DiskRevolvePlanner(n, c, costs).cost(), least_by_search({n, c, n}, costs))
            << text({n, c, n}, costs);
      }
    }
  }
}

TEST(TwoTier, TakesTurnForOneMoreStep) {
  for (const TwoTierCosts& costs : kTwoTierCosts) {
    for (std::int64_t n = 1; n <= 40; n += n < 10 ? 1 : 10) {
      for (const std::int64_t c : {0, 1, 3}) {
        for (const std::int64_t d : {1, 2, 5}) {
          expect_turn_is_a_step({n, c, d}, costs, HRevolvePlanner(n + 1, c, d, costs),
                                HRevolvePlanner(n, c, d, costs));
        }
        if (c == 0) continue;
        const DiskRevolvePlanner turning(n + 1, c, costs), taping(n, c, costs);
        expect_turn_is_a_step({n, c, turning.disk_slots()}, costs, turning, taping);
      }
    }
  }
}

TEST(TwoTier, KeepsTheRulesWhereTheFirstStateIsOnDiskAlready) {
  for (const TwoTierCosts& costs : kTwoTierCosts) {
    for (std::int64_t n = 2; n <= 60; n += n < 8 ? 1 : 13) {
      for (const std::int64_t c : {0, 1, 3}) {
        for (const std::int64_t first : {1, 4, 40}) {
          if (first >= n) continue;
          DiskRevolvePlanner planner(n, c, costs);
          const std::int64_t places = planner.disk_slots() + 1;
          EXPECT_NO_THROW(replayed({n, c, places}, FirstOnDisk(first, std::move(planner))))
              << text({n, c, places}, costs) << ", first " << first;
          for (std::int64_t d = 1; d <= n; d += 1 + d / 3) {
            if (c == 0 && d == 1) continue;
            EXPECT_NO_THROW(
                replayed({n, c, d}, FirstOnDisk(first, HRevolvePlanner(n, c, d, costs))))
                << text({n, c, d}, costs) << ", first " << first;
          }
        }
      }
    }
  }
}

// The rows of fast and plain search are compared as a whole: that no split is overlooked must hold
// at every length.
RC_GTEST_PROP(TwoTier, CostsWhatTheRecurrenceCosts, ()) {
  TwoTierCase given{*rc::gen::inRange<std::int64_t>(1, 400), *rc::gen::inRange<std::int64_t>(0, 7),
                    *rc::gen::inRange<std::int64_t>(1, 7)};
  const auto scale = *rc::gen::element<std::int64_t>(1, 10, 1000, 100000);
  const TwoTierCosts costs{*rc::gen::inRange<std::int64_t>(0, 30), 0,
                           *rc::gen::inRange<std::int64_t>(0, scale + 1),
                           *rc::gen::inRange<std::int64_t>(0, scale + 1)};
  const std::int64_t n = given.steps;
  const auto expected = static_cast<uint128>(by_recurrence(given, costs).back());
  HRevolvePlanner bounded(n, given.ram_slots, given.disk_slots, costs);
  RC_ASSERT(bounded.cost() == expected);
  RC_ASSERT(two_tier_cost(n, replayed(given, std::move(bounded)), costs) == expected);
  given.disk_slots = kUnbounded;
  const auto without_end = static_cast<uint128>(by_recurrence(given, costs).back());
  DiskRevolvePlanner unbounded(n, given.ram_slots, costs);
  RC_ASSERT(unbounded.cost() == without_end);
  given.disk_slots = unbounded.disk_slots();
  RC_ASSERT(two_tier_cost(n, replayed(given, std::move(unbounded)), costs) == without_end);
}

// Far beyond the table: the cost of the periods is that of the recurrence.
TEST(DiskRevolve, IsPeriodicFromTheEndOfItsTableOn) {
  Draw below(1500);
  for (int trial = 0; trial < 40; ++trial) {
    const std::int64_t n = 1500 + below(trial == 0 ? 1500 : 200), c = below(4);
    const TwoTierCosts costs{1 + below(7), 0, below(12), below(12)};
    const auto expected = by_recurrence({n, c, kUnbounded}, costs).back();
    ASSERT_EQ(DiskRevolvePlanner(n, c, costs).cost(), static_cast<uint128>(expected))
        << text({n, c, 0}, costs);
  }
}

TEST(DiskRevolve, PlansAnyNumberOfStepsWhereThePeriodIsShort) {
  const TwoTierCosts costs{1, 1, 20, 20};
  const std::int64_t n = kMostSteps - 1;
  DiskRevolvePlanner planner(n, 5, costs);
  const Segment all{0, n, Place::kNowhere, 5, n};
  EXPECT_EQ(planner.place(all).place, Place::kDisk);
  const std::int64_t period = planner.place({0, n, Place::kDisk, 5, n - 1}).advance;
  const std::int64_t few = n % period + 3000 * period;
  const auto more = static_cast<uint128>((n - few) / period);
  DiskRevolvePlanner shorter(few, 5, costs);
  DiskRevolvePlanner next(few + period, 5, costs);
  EXPECT_EQ(planner.cost(), shorter.cost() + more * (next.cost() - shorter.cost()));
  const Segment some{0, few, Place::kNowhere, 5, few};
  const Segment some_more{0, few + period, Place::kNowhere, 5, few};
  EXPECT_EQ(planner.advances(all),
            shorter.advances(some) + more * (next.advances(some_more) - shorter.advances(some)));
}

TEST(TwoTier, NeedsNoTableWhereRamIsAsGood) {
  const TwoTierCosts dear{1, 0, kMostSteps, kMostSteps};
  for (const std::int64_t n : {std::int64_t{10000}, kMostSteps}) {
    const std::int64_t c = n == 10000 ? 1000000000 : kMostSteps;
    DiskRevolvePlanner planner(n, c, {1, 0, 2, 2});
    EXPECT_EQ(planner.cost(), static_cast<uint128>(n - 1));
    EXPECT_EQ(planner.disk_slots(), 0);
    EXPECT_EQ(HRevolvePlanner(n, c, c, {1, 0, 2, 2}).cost(), static_cast<uint128>(n - 1));
  }
  EXPECT_EQ(DiskRevolvePlanner(1000000000, 20, dear).cost(), extra_advances(1000000000, 20));
  EXPECT_EQ(HRevolvePlanner(1000000000, 20, 0, {1, 2, 1, 1}).cost(),
            extra_advances(1000000000, 20) + 2000000000);
  for (std::int64_t n = 1; n <= 60; ++n) {
    for (std::int64_t c = 0; c <= 4; ++c) {
      EXPECT_EQ(HRevolvePlanner(n, c, 3, {1, 0, 0, 0}).cost(), extra_advances(n, c + 3))
          << "the disk costs nothing: " << n << " " << c;
    }
  }
}

TEST(HRevolve, IsDiskRevolveWhereSlotsAreMany) {
  const TwoTierCosts costs{1, 1, 2, 2};
  const DiskRevolvePlanner unbounded(1000, 3, costs);
  const std::int64_t writes = unbounded.disk_slots(), n = kMostSteps - 1;
  EXPECT_GT(HRevolvePlanner(1000, 3, writes / 2, costs).cost(), unbounded.cost());
  for (const std::int64_t slots : {writes, std::int64_t{1000000000}, kMostSteps}) {
    EXPECT_EQ(HRevolvePlanner(1000, 3, slots, costs).cost(), unbounded.cost());
  }
  EXPECT_EQ(HRevolvePlanner(n, 3, n, costs).cost(), DiskRevolvePlanner(n, 3, costs).cost());
}

// Rows of large costs take 128 bits, others 64.
TEST(TwoTier, AddsUpHugeCosts) {
  constexpr std::int64_t kUnit = std::int64_t{1} << 58;
  for (std::int64_t c = 0; c <= 3; ++c) {
    EXPECT_EQ(HRevolvePlanner(700, c, 3, {kUnit, kUnit, 5 * kUnit, 3 * kUnit}).cost(),
              HRevolvePlanner(700, c, 3, {1, 1, 5, 3}).cost() * static_cast<uint128>(kUnit));
  }
  const TwoTierCosts huge{kMostSteps, kMostSteps, kMostSteps, kMostSteps};
  EXPECT_EQ(DiskRevolvePlanner(1000000, 2, huge).cost(),
            DiskRevolvePlanner(1000000, 2, {1, 1, 1, 1}).cost() * static_cast<uint128>(kMostSteps));
  EXPECT_EQ(two_tier_cost(10, {100, 20, 30}, {7, 5, 3, 2}), uint128{700 + 60 + 60 + 50});
  const uint128 many = uint128{1} << 100;
  EXPECT_THROW(two_tier_cost(0, {many, 0, 0}, {kMostSteps, 0, 0, 0}), Error);
  EXPECT_THROW(two_tier_cost(0, {~uint128{0}, 1, 0}, {1, 0, 1, 0}), Error);
  EXPECT_EQ(two_tier_cost(0, {~uint128{0}, 1, 0}, {1, 0, 0, 0}), ~uint128{0});
}

TEST(TwoTier, RefusesWhatItCannotPlan) {
  for (const TwoTierCosts& costs :
       {TwoTierCosts{-1, 0, 0, 0}, TwoTierCosts{1, -1, 0, 0}, TwoTierCosts{1, 0, -1, 0},
        TwoTierCosts{1, 0, 0, -1}, TwoTierCosts{1, 0, 0, std::int64_t{1} << 62 | 1}}) {
    EXPECT_THROW(DiskRevolvePlanner(5, 2, costs).cost(), Error);
    EXPECT_THROW(HRevolvePlanner(5, 2, 2, costs).cost(), Error);
  }
  EXPECT_THROW(DiskRevolvePlanner(-1, 2, {}).cost(), Error);
  EXPECT_THROW(DiskRevolvePlanner(kMostSteps + 1, 2, {}).cost(), Error);
  EXPECT_THROW(DiskRevolvePlanner(5, -1, {}).cost(), Error);
  EXPECT_THROW(HRevolvePlanner(-1, 2, 2, {}).cost(), Error);
  EXPECT_THROW(HRevolvePlanner(5, 0, 0, {}).cost(), Error);
  EXPECT_THROW(HRevolvePlanner(5, 1, -1, {}).cost(), Error);
  // Too long a table.
  EXPECT_THROW(DiskRevolvePlanner(kMostSteps, 1, {1, 0, 1000000000, 1000000000}).cost(), Error);
  EXPECT_THROW(DiskRevolvePlanner(kMostSteps, 0, {1, 0, kMostSteps, 1}).cost(), Error);
  EXPECT_THROW(HRevolvePlanner(1000000000, 1, 10, {1, 0, 2, 2}).cost(), Error);
  // Too many intervals for each row of it.
  EXPECT_THROW(DiskRevolvePlanner(kMostDiskRows, 1, {10, 5, 0, std::int64_t{1} << 43}), Error);
  EXPECT_THROW(HRevolvePlanner(kMostSteps, 1, 0, {kMostSteps, 0, 0, 0}).cost(), Error);
}

TEST(TwoTierCosts, AreMeasuredInPartsOfAStepOrOfTheLeastTime) {
  constexpr std::int64_t kTick = std::int64_t{1} << 20, kMost = std::int64_t{1} << 62;
  const double huge = std::numeric_limits<double>::max();
  const double tiny = std::numeric_limits<double>::denorm_min();
  const auto ticks = [](double advance, double adjoint, double write, double read) {
    const TwoTierCosts costs = costs_in_ticks(advance, adjoint, write, read);
    return std::array{costs.advance, costs.adjoint, costs.write, costs.read};
  };
  EXPECT_EQ(ticks(0.5, 1.5, 2, 0.25), (std::array{kTick, 3 * kTick, 4 * kTick, kTick / 2}));
  EXPECT_EQ(ticks(0, 0, 2, 0.5), (std::array{std::int64_t{0}, std::int64_t{0}, 4 * kTick, kTick}));
  EXPECT_EQ(costs_in_ticks(0, 0, 0, 0).write, 0);
  EXPECT_EQ(costs_in_ticks(1, 1, huge, 1e300).write, kMost);
  EXPECT_EQ(costs_in_ticks(tiny, 0, 1, 1).write, kMost);
  EXPECT_THROW(costs_in_ticks(-1, 1, 1, 1), Error);
  EXPECT_THROW(costs_in_ticks(1, std::nan(""), 1, 1), Error);
  EXPECT_THROW(costs_in_ticks(1, 1, std::numeric_limits<double>::infinity(), 1), Error);
}

// ---- multistage ----

/// Splits by the rule of Algorithm 799 (Griewank & Walther 2000), as ADOL-C and PETSc do.
class PublishedPlanner final : public Planner {
 public:
  Placement place(const Segment& segment) override {
    const std::int64_t n = segment.last - segment.first;
    const std::int64_t s = segment.units + segment.disk_slots + 1;
    if (segment.held == Place::kNowhere || s == 1 || n <= s + 1) return shortest_.place(segment);
    const std::int64_t r = splitter_.repetitions(n, s);  // r >= 2
    const auto whole = static_cast<std::int64_t>(splitter_.beta());
    const std::int64_t left_most = whole * r / (s + r);                 // beta(s, r-1)
    const std::int64_t left_least = left_most * (r - 1) / (s + r - 1);  // beta(s, r-2)
    const std::int64_t right_least = left_most * s / (s + r - 1);       // beta(s-1, r-1)
    const std::int64_t next = right_least * (s - 1) / (s + r - 2);      // beta(s-2, r-1)
    const std::int64_t rest = whole - left_most - right_least - next;   // beta(s-3, r)
    if (n <= left_most + next) return {Place::kNowhere, left_least};
    if (n >= whole - rest) return {Place::kNowhere, left_most};
    return {Place::kNowhere, n - right_least - next};
  }
  uint128 advances(const Segment& segment) override { return shortest_.advances(segment); }

 private:
  MultistagePlanner shortest_;
  Splitter splitter_;
};

// Stumm & Walther put on disk the places with the fewest accesses, wherever they are.
TEST(Multistage, HasTheLeastUsedPlacesOnDiskIfItSplitsShort) {
  for (std::int64_t n = 2; n <= 200; n += n < 40 ? 1 : 20) {
    for (std::int64_t slots = 1; slots <= 12; ++slots) {
      StackSweep sweep(options_of({n, slots, 0}), std::make_unique<MultistagePlanner>());
      std::vector<std::int64_t> use(static_cast<std::size_t>(slots), 0);  // of places, lowest first
      for (Action action = sweep.next(); !std::holds_alternative<Done>(action);
           action = sweep.next()) {
        const Kept* kept = std::get_if<Keep>(&action);
        if (kept == nullptr) kept = std::get_if<Restore>(&action);
        if (kept != nullptr) ++use[static_cast<std::size_t>(kept->place)];
      }
      for (std::size_t place = 1; place < use.size() && use[place] > 0; ++place) {
        ASSERT_LE(use[place - 1], use[place]) << "n " << n << ", slots " << slots;
      }
    }
  }
}

TEST(Multistage, TakesWhatIsCountedAndForTurnOneMoreStep) {
  for (std::int64_t n = 0; n <= 1200; n += n < 30 ? 1 : 390) {
    for (const std::int64_t c : {0, 1, 2, 5, 12}) {
      for (const std::int64_t d : {0, 1, 3, 8, 20}) {
        if (c + d == 0) continue;
        EXPECT_TRUE(replayed({n, c, d}, MultistagePlanner()) == multistage_use(n, c, d))
            << text({n, c, d});
        if (n == 0 || d == 0) continue;
        StackOptions options = options_of({n, c, d});
        options.turn = true;
        const TwoTierUse run = use_of(replay(options, std::make_unique<MultistagePlanner>()));
        const TwoTierUse expected = multistage_use(n + 1, c, d);
        EXPECT_TRUE(run.advances == expected.advances && run.writes == expected.writes) << n;
        EXPECT_EQ(run.reads, expected.reads + 1) << n;  // x_0 is live again at the end
        options.record = true;
        const Taken taped = replay(options, std::make_unique<MultistagePlanner>());
        EXPECT_TRUE(use_of(taped) == multistage_use(n, c, d)) << n;
        EXPECT_EQ(taped.recorded, n);
      }
    }
  }
}

TEST(Multistage, CostsFarMoreThanHRevolveWhereTheDiskIsSlow) {
  const TwoTierCosts slow{1, 0, 20, 20};
  const TwoTierUse published = replayed({100, 5, 10}, PublishedPlanner());
  EXPECT_EQ(two_tier_cost(100, published, slow), uint128{2343});
  EXPECT_EQ(two_tier_cost(100, multistage_use(100, 5, 10), slow), uint128{1783});
  EXPECT_EQ(HRevolvePlanner(100, 5, 10, slow).cost(), uint128{316});
}

TEST(Multistage, IsCountedInExtremeCases) {
  EXPECT_TRUE((multistage_use(10000, 1000000000, 0) == TwoTierUse{9999, 0, 0}));
  EXPECT_TRUE((multistage_use(10000, 5, 1000000000) == TwoTierUse{9999, 9999, 9999}));
  const auto most = static_cast<uint128>(kMostSteps - 1);
  EXPECT_EQ(multistage_use(kMostSteps, kMostSteps, kMostSteps).writes, most);
  EXPECT_EQ(multistage_use(kMostSteps, 0, 1).reads, most);
  EXPECT_EQ(multistage_use(kMostSteps, 30, 10).advances, extra_advances(kMostSteps, 40));
  EXPECT_THROW(multistage_use(kMostSteps, 1, 1), Error);
  EXPECT_THROW(multistage_use(5, 0, 0), Error);
  EXPECT_THROW(multistage_use(-1, 1, 0), Error);
}

}  // namespace
}  // namespace anadrome::schedule

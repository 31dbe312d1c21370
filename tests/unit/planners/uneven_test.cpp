// SPDX-License-Identifier: BSD-2-Clause
// Steps and states that differ; and with tapes that do, too.
#include "planners/memory/uneven.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/index.h"
#include "exhaustive_search.h"
#include "planners/questions/uneven_tapes.h"
#include "reference_table.h"
#include "replay.h"

namespace anadrome::schedule {
namespace {

using Values = std::vector<std::int64_t>;

// Chains by the names that the reference tables give them.
Values chain_of(const std::string& model, std::int64_t n) {
  Values values;
  std::uint32_t x = 12345;
  for (std::int64_t k = 0; k < n; ++k) {
    x = 1103515245U * x + 12345U;
    std::int64_t value = 1;
    if (model == "1+(k%3)") value = 1 + k % 3;
    if (model == "1+(k%2)*3") value = 1 + k % 2 * 3;
    if (model == "k+1") value = k + 1;
    if (model == "n-k") value = n - k;
    if (model == "lcg1..9") value = 1 + (x >> 16) % 9;
    values.push_back(value);
  }
  return values;
}

std::int64_t cost_or_none(const UnevenSteps& steps) {
  try {
    return UnevenPlanner(steps).cost();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ANADROME_ERR_ARGUMENT);
    return -1;
  }
}

void expect_what_was_promised(const UnevenSteps& steps, bool record) {
  auto planner = std::make_unique<UnevenPlanner>(steps);
  StackOptions options = {.steps = static_cast<std::int64_t>(steps.costs.size()),
                          .units = planner->units(),
                          .record = record,
                          .turn = steps.turn_is_a_step || record};
  const std::int64_t cost = planner->cost();
  std::int64_t most = 0;  // bytes
  const Values& bytes = steps.state_bytes;
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    most = std::max(most, bytes[k]);
    ASSERT_LE(bytes[k], planner->state_units(static_cast<std::int64_t>(k)) * planner->unit_bytes());
  }
  ASSERT_LE(planner->units(), std::max(steps.bytes, std::int64_t{1}) / planner->unit_bytes());
  StackSweep sweep(options, std::move(planner));
  Driver driver(sweep, rules_of(options, sweep.planner()), {.steps = options.steps});
  std::int64_t played = 0;
  driver.sees = [&](const Action& action) {
    const auto* const advance = std::get_if<Advance>(&action);
    if (advance == nullptr) return;
    for (std::int64_t k = advance->first; k < advance->last - (advance->record ? 1 : 0); ++k) {
      played += steps.costs[at(k)];
    }
  };
  const Taken totals = driver.sweep();
  ASSERT_EQ(played, cost);
  ASSERT_LE(totals.most_units, options.units);
}

/// F(i, j, b): steps i .. j-1 from x_i, with b units for the states between. The state of the last
/// step is live when its turn comes.
class Recurrence {
 public:
  explicit Recurrence(const UnevenSteps& steps) : steps_(steps) {}

  std::int64_t least(std::int64_t i, std::int64_t j, std::int64_t b) {
    if (j - i == 1) return 0;
    if (const auto known = known_.find({i, j, b}); known != known_.end()) return known->second;
    std::int64_t best = std::numeric_limits<std::int64_t>::max(), sum = 0;
    for (std::int64_t k = i + 1; k < j; ++k) {
      sum += steps_.costs[at(k - 1)];
      const std::int64_t left = k == j - 1 ? b : b - size_of(k);
      if (left >= 0) best = std::min(best, sum + least(k, j, left) + least(i, k, b));
    }
    return known_[{i, j, b}] = best;
  }
  std::int64_t least() {
    const std::int64_t left = steps_.bytes - size_of(0);
    return left < 0 ? -1 : least(0, std::ssize(steps_.costs), left);
  }

 private:
  std::int64_t size_of(std::int64_t k) const {
    return steps_.state_bytes.empty() ? 1 : steps_.state_bytes[at(k)];
  }

  UnevenSteps steps_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> known_;
};

TEST(UnevenCost, SolvesTheRecurrence) {
  for (const std::string model : {"uniform1", "1+(k%3)", "1+(k%2)*3", "k+1", "n-k", "lcg1..9"}) {
    for (const std::int64_t n : {2, 3, 8, 15, 20}) {
      for (const std::int64_t memory : {1, 2, 3, 5, 8, 12, 20}) {
        const UnevenSteps costs{.costs = chain_of(model, n), .bytes = memory};
        const UnevenSteps sizes{
            .costs = Values(at(n), 1), .state_bytes = chain_of(model, n), .bytes = memory};
        EXPECT_TRUE(UnevenPlanner(costs).exact());
        for (const UnevenSteps& steps : {costs, sizes}) {
          EXPECT_EQ(cost_or_none(steps), Recurrence(steps).least())
              << model << ", n " << n << ", memory " << memory;
        }
      }
    }
  }
}

// With equal sizes the optimum; with others a persistent plan may lose to one that gives a state up
// early, and never wins.
RC_GTEST_PROP(UnevenCost, IsNoLessThanTheOptimumAndRarelyMoreWhereSizesDiffer, ()) {
  SmallReversal problem;
  problem.steps = *rc::gen::inRange(1, 9);
  const auto n = static_cast<std::size_t>(problem.steps);
  const bool equal = *rc::gen::arbitrary<bool>();
  problem.step_cost = *rc::gen::container<Values>(n, rc::gen::inRange<std::int64_t>(0, 6));
  problem.state_units =
      *rc::gen::container<Values>(n, rc::gen::inRange<std::int64_t>(1, equal ? 2 : 5));
  problem.units = *rc::gen::inRange<std::int64_t>(problem.state_units[0], equal ? 6 : 14);
  const std::int64_t least = least_extra_cost(problem);
  const std::int64_t planned = UnevenPlanner(UnevenSteps{.costs = problem.step_cost,
                                                         .state_bytes = problem.state_units,
                                                         .bytes = problem.units})
                                   .cost();
  RC_ASSERT(planned >= least);
  RC_CLASSIFY(planned > least);
  RC_ASSERT(planned <= (equal ? least : least + least / 4 + 1));
}

TEST(UnevenPlanner, TakesWhatItPromises) {
  for (const std::string model : {"1+(k%3)", "k+1", "lcg1..9"}) {
    for (std::int64_t n = 1; n <= 60; n += n < 12 ? 1 : 12) {
      for (const std::int64_t memory : {1, 2, 3, 5, 8}) {
        for (const bool turn : {false, true}) {
          expect_what_was_promised(
              {.costs = chain_of(model, n), .bytes = memory, .turn_is_a_step = turn}, false);
        }
        expect_what_was_promised({.costs = chain_of(model, n),
                                  .state_bytes = chain_of("1+(k%3)", n),
                                  .bytes = 2 * memory},
                                 true);
        if (HasFailure()) return;
      }
    }
  }
}

RC_GTEST_PROP(UnevenPlanner, TakesWhatItPromisesWhateverItsTablesHold, ()) {
  UnevenSteps steps;
  const auto n = *rc::gen::inRange<std::size_t>(1, 400);
  steps.costs = *rc::gen::container<Values>(n, rc::gen::inRange<std::int64_t>(0, 1000));
  if (*rc::gen::arbitrary<bool>()) {
    const auto most = *rc::gen::element<std::int64_t>(3, 40, 100000, 1000000000000);
    steps.state_bytes = *rc::gen::container<Values>(n, rc::gen::inRange<std::int64_t>(1, most));
    steps.bytes = steps.state_bytes[0] + *rc::gen::inRange<std::int64_t>(0, 20 * most);
  } else {
    steps.bytes = *rc::gen::inRange<std::int64_t>(1, 30);
  }
  steps.turn_is_a_step = *rc::gen::arbitrary<bool>();
  steps.table_bytes = *rc::gen::element<std::int64_t>(0, 4000, 40000, 1 << 20);
  expect_what_was_promised(steps, !steps.turn_is_a_step && *rc::gen::arbitrary<bool>());
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(UnevenPlanner, WithoutRoomForItsTablesIsNearTheOptimum) {
  for (const std::string model : {"uniform1", "1+(k%3)", "k+1", "lcg1..9"}) {
    for (const std::int64_t slots : {2, 3, 5, 10}) {
      UnevenSteps steps{.costs = chain_of(model, 400), .bytes = slots};
      const UnevenPlanner best(steps);
      ASSERT_TRUE(best.exact());
      steps.table_bytes = 8 * (slots + 1) * 50 * 51 / 2;  // 50 items of 8 steps
      const UnevenPlanner coarse(steps);
      EXPECT_FALSE(coarse.exact());
      EXPECT_GE(coarse.cost(), best.cost());
      EXPECT_LE(static_cast<double>(coarse.cost()), 1.03 * static_cast<double>(best.cost()))
          << model << ", s " << slots;
    }
  }
}

// Bytes that do not divide, or too many states for tables, which are for 256 of them.
TEST(UnevenPlanner, IsNeverWorseThanRevolveWithSlotsOfTheLargestSize) {
  const std::int64_t mega = 1 << 20;
  UnevenSteps steps{.costs = Values(300, 1), .state_bytes = {}, .bytes = 0};
  for (const std::int64_t value : chain_of("lcg1..9", 300)) {
    steps.state_bytes.push_back(100 * mega + value * mega + value);
  }
  for (const std::int64_t slots : {1, 10}) {
    steps.bytes = slots * 110 * mega;
    EXPECT_LE(UnevenPlanner(steps).cost(), extra_advances_clamped(300, slots)) << slots;
  }
  steps = {.costs = Values(600, 1), .state_bytes = {}, .bytes = 0};
  for (std::int64_t k = 0; k < 600; ++k) {
    steps.state_bytes.push_back(k < 300 ? 3 + k : 603 - k);
    steps.bytes += 3 * steps.state_bytes.back() / 10;
  }
  const std::int64_t sized = UnevenPlanner(steps).cost() - 599;
  const std::int64_t equal = extra_advances_clamped(600, steps.bytes / 303) - 599;
  EXPECT_LT(static_cast<double>(sized), 0.95 * static_cast<double>(equal));
}

TEST(UnevenPlanner, PlansExtremesOrSaysWhyNot) {
  const auto cost = [](std::size_t n, std::int64_t each, std::int64_t bytes) {
    return cost_or_none({.costs = Values(n, each), .bytes = bytes});
  };
  EXPECT_EQ(cost(10000, 1, 1000000000), 9999);
  EXPECT_EQ(cost(10000, 1, 1), extra_advances_clamped(10000, 1));
  EXPECT_EQ(cost(1000000, 1, std::int64_t{1} << 62), 999999);
  EXPECT_EQ(cost(2, 1, 0), -1);
  EXPECT_EQ(cost(1, 1, 0), 0);
  EXPECT_EQ(cost(0, 1, 0), 0);
  EXPECT_EQ(cost(5, -1, 3), -1);
  EXPECT_EQ(cost(5, std::int64_t{1} << 61, 3), -1);
  EXPECT_EQ(cost((std::size_t{1} << 20) + 1, 1, 3), -1);
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_EQ(cost_or_none({.costs = {1, 1, 1}, .state_bytes = {huge, huge, 1}, .bytes = huge}), 3);
  EXPECT_EQ(cost_or_none({.costs = {1, 1, 1}, .state_bytes = {huge, 1, 1}, .bytes = huge - 1}), -1);
  EXPECT_EQ(cost_or_none({.costs = {1, 1}, .state_bytes = {1}, .bytes = 4}), -1);
  EXPECT_EQ(cost_or_none({.costs = {1, 1}, .state_bytes = {1, 0}, .bytes = 4}), -1);
}

}  // namespace
}  // namespace anadrome::schedule

namespace anadrome::questions {
namespace {

using namespace schedule;

/// Plays the actions, and breaks on any that cannot be. Returns the time.
std::int64_t replay(const UnevenTapes& chain, const std::vector<TapesAction>& actions) {
  const auto require = [](bool holds, const char* rule) {
    if (!holds) throw std::logic_error(rule);
  };
  std::map<std::int64_t, std::int64_t> states, tapes;
  std::int64_t live = 0, live_tape = -1;  // -1: none
  std::int64_t time = 0, units = 0, todo = chain.steps() - 1;
  for (const TapesAction& action : actions) {
    const std::int64_t k = action.first;
    switch (action.kind) {
      case TapesKind::kAdvance:
        require(live == k && k < action.last, "its state is not live");
        for (std::int64_t step = k; step < action.last; ++step) time += chain.forward[at(step)];
        live = action.last;
        break;
      case TapesKind::kKeep:
        require(live == k && states.emplace(k, chain.state_units[at(k)]).second, "not there");
        units += chain.state_units[at(k)];
        break;
      case TapesKind::kRestore:
        require(states.erase(k) == 1, "it is not kept");
        units -= chain.state_units[at(k)];
        live = k;
        break;
      case TapesKind::kTape:
      case TapesKind::kRecord:
        require(live == k, "its state is not live");
        time += chain.forward[at(k)];
        live = k + 1;
        if (action.kind == TapesKind::kRecord) {
          live_tape = k;
        } else {
          units += chain.tape_units[at(k)];
          tapes[k] = chain.tape_units[at(k)];
        }
        break;
      case TapesKind::kAdjoint:
        require(todo-- == k, "adjoints come once, in order");
        if (live_tape != k) {
          require(tapes.erase(k) == 1, "its tape is not there");
          units -= chain.tape_units[at(k)];
        }
        time += chain.adjoint[at(k)];
        live = live_tape = -1;
        break;
    }
    require(units <= chain.units, "more is kept than fits");
  }
  require(todo == -1, "adjoints are missing");
  return time;
}

std::int64_t time_of(const UnevenTapes& chain) {
  const auto plan = plan_uneven_tapes(chain);
  if (!plan) return -1;
  EXPECT_EQ(replay(chain, plan->actions), plan->time);
  return plan->time;
}

TEST(UnevenTapes, AgreesWithTheTable) {
  const auto rows = reference_cells("planners/het_chain_small.csv");
  ASSERT_GT(rows.size(), 25u);
  for (const auto& row : rows) {
    UnevenTapes chain{integers_in(row[2]), integers_in(row[3]), integers_in(row[4]),
                      integers_in(row[5]), std::stoll(row[1])};
    chain.state_units.resize(chain.forward.size());  // x_n is not kept
    EXPECT_EQ(time_of(chain), std::stoll(row[6])) << row[1] << ", " << row[2] << ", " << row[4];
    EXPECT_GE(time_of(chain), std::stoll(row[7]));
  }
}

// Where all states are alike, and all tapes: no better than the optimum, which may also give a
// state up for its tape, and no worse than Revolve.
TEST(UnevenTapes, LieBetweenTheOptimumAndRevolve) {
  for (int n = 1; n <= 6; ++n) {
    for (std::int64_t tape = 1; tape <= 3; ++tape) {
      for (std::int64_t units = 1; units <= 6; ++units) {
        SmallReversal problem = {
            .steps = n, .units = units, .tape_units = tape, .tape_restarts = true};
        const std::size_t count = at(n);
        const std::int64_t time = time_of(
            {Values(count, 1), Values(count, 0), Values(count, 1), Values(count, tape), units});
        ASSERT_GE(time, n + least_extra_cost(problem)) << n << " " << tape << " " << units;
        ASSERT_LE(time, n + static_cast<std::int64_t>(extra_advances(n, units)))
            << n << " " << tape << " " << units;
        const bool all_fit = units >= tape * (n - 1);
        ASSERT_TRUE(!all_fit || time == n) << n << " " << tape << " " << units;
      }
    }
  }
}

RC_GTEST_PROP(UnevenTapes, MakesPossiblePlans, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 25);
  const auto values = [n](std::int64_t most) {
    return *rc::gen::container<Values>(n, rc::gen::inRange<std::int64_t>(0, most));
  };
  const UnevenTapes chain{values(50), values(50), values(3000), values(9000),
                          *rc::gen::inRange<std::int64_t>(0, 40000)};
  const auto plan = plan_uneven_tapes(chain, 64);
  if (plan) RC_ASSERT(replay(chain, plan->actions) == plan->time);
}

TEST(UnevenTapes, RefusesWhatIsNoChain) {
  EXPECT_THROW(plan_uneven_tapes({}), Error);
  EXPECT_THROW(plan_uneven_tapes({{1, 1}, {1}, {1, 1}, {1, 1}, 3}), Error);
  EXPECT_THROW(plan_uneven_tapes({{1, -1}, {1, 1}, {1, 1}, {1, 1}, 3}), Error);
  EXPECT_FALSE(plan_uneven_tapes({{1, 1}, {1, 1}, {1, 1}, {1, 1}, 0}).has_value());
}

}  // namespace
}  // namespace anadrome::questions

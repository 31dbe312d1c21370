// SPDX-License-Identifier: BSD-2-Clause
#include "planners/questions/uneven_tapes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <stdexcept>

#include "base/error.h"
#include "base/index.h"
#include "exhaustive_search.h"
#include "reference_table.h"
#include "schedule/words/revolve.h"

namespace anadrome::questions {
namespace {

using namespace schedule;

using Values = std::vector<std::int64_t>;

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

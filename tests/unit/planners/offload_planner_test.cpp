// SPDX-License-Identifier: BSD-2-Clause
#include "planners/offload/offload_planner.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "base/error.h"
#include "base/index.h"
#include "overlapped_machine.h"
#include "planners/offload/offloaded_plan.h"
#include "reference_table.h"

namespace anadrome::schedule {
namespace {

using Values = std::vector<std::int64_t>;

OffloadChain uniform(std::int64_t n, std::int64_t forward, std::int64_t adjoint, std::int64_t write,
                     std::int64_t read, std::int64_t memory) {
  OffloadChain chain;
  chain.forward.assign(at(n - 1), forward);
  chain.adjoint.assign(at(n), adjoint);
  chain.state_units.assign(at(n), 1);
  chain.write.assign(at(n), write);
  chain.read.assign(at(n), read);
  chain.fast_memory = memory;
  return chain;
}

/// Breaks on a run that could not have been: from the spans alone, whatever the plan says.
void require_possible(const OffloadChain& chain, const OffloadRun& run) {
  const auto require = [](bool holds, const char* rule) {
    if (!holds) throw std::logic_error(rule);
  };
  struct Use {
    std::int64_t state, from, to;
  };
  std::vector<Span<std::int64_t>> solver, writes, reads;
  for (const Span<std::int64_t>& span : run.spans) {
    (span.doing == Doing::kWrite  ? writes
     : span.doing == Doing::kRead ? reads
                                  : solver)
        .push_back(span);
  }
  const auto one_at_a_time = [&](std::vector<Span<std::int64_t>> spans) {
    std::stable_sort(spans.begin(), spans.end(),
                     [](const auto& a, const auto& b) { return a.start < b.start; });
    for (std::size_t i = 1; i < spans.size(); ++i) {
      require(spans[i - 1].end <= spans[i].start, "two at a time");
    }
  };
  one_at_a_time(solver);
  if (chain.full_duplex) {
    one_at_a_time(writes);
    one_at_a_time(reads);
  } else {
    std::vector<Span<std::int64_t>> link = writes;
    link.insert(link.end(), reads.begin(), reads.end());
    one_at_a_time(link);
  }
  std::int64_t todo = chain.steps() - 1;
  std::vector<Use> uses{{0, 0, 0}};  // from where a state is made or read to where it is last used
  const auto use = [&](std::int64_t state, std::int64_t from, std::int64_t to) {
    for (auto last = uses.rbegin();; ++last) {
      require(last != uses.rend(), "what was never there is used");
      if (last->state != state) continue;
      if (last->from > from) continue;
      last->to = std::max(last->to, to);
      return;
    }
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> arrives(chain.adjoint.size(), {0, 0});
  std::vector<Span<std::int64_t>> spans = run.spans;
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto& a, const auto& b) { return a.end < b.end; });
  std::vector<bool> slow(chain.adjoint.size());
  for (const Span<std::int64_t>& span : spans) {
    switch (span.doing) {
      case Doing::kAdjoint:
        require(span.step() == todo--, "adjoints come once, in order");
        use(span.step(), span.start, span.end);
        break;
      case Doing::kAdvance:
      case Doing::kRecompute:
        use(span.step(), span.start, span.end);
        uses.push_back({span.step() + 1, span.start, span.end});
        break;
      case Doing::kWrite:
        slow[at(span.step())] = true;
        if (span.step() <= todo) use(span.step(), span.start, span.end);
        break;
      case Doing::kRead:
        require(slow[at(span.step())], "it is not in the slow memory");
        uses.push_back({span.step(), span.start, span.end});
        break;
      case Doing::kWait:
        require(false, "waiting is no span of its own");
    }
  }
  require(todo == -1, "adjoints are missing");
  for (const Use& moment : uses) {
    std::int64_t units = 0;
    for (const Use& other : uses) {
      const bool there = other.from <= moment.from && moment.from < other.to;
      units += there ? chain.state_units[at(other.state)] : 0;
    }
    require(units <= chain.fast_memory, "more is needed at a time than fits");
  }
}

std::int64_t makespan(const OffloadChain& chain, const OffloadMeans& means = {}) {
  const OffloadPlan plan = plan_offload(chain, means);
  if (plan.run.makespan >= 0) {
    require_possible(chain, plan.run);
    EXPECT_GE(plan.run.makespan, plan.lower_bound);
    EXPECT_LE(plan.run.most_units, chain.fast_memory);
  }
  return plan.run.makespan;
}

std::int64_t in_table(const std::string& cell) { return cell == "inf" ? -1 : std::stoll(cell); }

// Its optima are of a search over everything that a solver and a link can do next.
TEST(OffloadPlanner, AgreesWithTheTable) {
  const auto rows = reference_cells("planners/offload_small.csv");
  ASSERT_EQ(rows.size(), 59u);
  for (const auto& row : rows) {
    SCOPED_TRACE(row[2] + ", " + row[3] + ", " + row[6]);
    OffloadChain chain;
    chain.forward = integers_in(row[2]);
    chain.adjoint = integers_in(row[3]);
    chain.state_units = integers_in(row[4]);
    chain.write = chain.read = integers_in(row[5]);
    chain.fast_memory = std::stoll(row[6]);
    const std::int64_t offload_only = makespan(chain, {true, false});
    EXPECT_EQ(makespan(chain), in_table(row[8]));
    EXPECT_EQ(makespan(chain, {false, true}), in_table(row[10]));
    EXPECT_GE(offload_only, in_table(row[9]));
    EXPECT_LE(offload_only, in_table(row[9]) + 1);
  }
}

// The table's adjoint runs its step apart, and beside the slots there is the state under way.
TEST(OffloadPlanner, AgreesWithTheTableOfOffloadingAlone) {
  const auto rows = reference_rows("planners/offload_only_small.csv", 7);
  ASSERT_EQ(rows.size(), 27u);
  for (const auto& row : rows) {
    const OffloadChain chain = uniform(row[0], row[2], row[2] + row[3], row[4], row[5], row[1] + 1);
    EXPECT_EQ(makespan(chain, {true, false}), row[6])
        << row[0] << " " << row[1] << " " << row[2] << " " << row[3] << " " << row[4];
  }
}

RC_GTEST_PROP(OffloadPlanner, MakesPossiblePlansOfLongerChains, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 40);
  const auto values = [](std::size_t count, std::int64_t least, std::int64_t most) {
    return *rc::gen::container<Values>(count, rc::gen::inRange<std::int64_t>(least, most + 1));
  };
  OffloadChain chain;
  chain.forward = values(n - 1, 0, 30);
  chain.adjoint = values(n, 0, 60);
  chain.state_units = values(n, 0, 20);
  chain.write = values(n, 0, 90);
  chain.read = values(n, 0, 90);
  chain.fast_memory = *rc::gen::inRange<std::int64_t>(40, 200);
  chain.full_duplex = *rc::gen::arbitrary<bool>();
  const OffloadPlan both = plan_offload(chain, {}, 300000);
  RC_ASSERT(both.run.makespan >= both.lower_bound);
  require_possible(chain, both.run);
  RC_ASSERT(both.run.most_units <= chain.fast_memory);
}

// Asynchronous multistage writes every I-th state, I what hides a write: 58 and 109 here.
TEST(OffloadPlanner, BeatsThePeriodThatHidesAWrite) {
  EXPECT_EQ(makespan(uniform(24, 1, 1, 2, 2, 4)), 57);
  EXPECT_EQ(makespan(uniform(24, 1, 1, 2, 2, 4), {false, true}), 90);
  EXPECT_LE(makespan(uniform(24, 1, 1, 2, 2, 4), {true, false}), 87);
  EXPECT_EQ(makespan(uniform(36, 1, 1, 5, 5, 5)), 96);
  EXPECT_EQ(makespan(uniform(36, 1, 1, 5, 5, 5), {false, true}), 130);
  OffloadChain chain = uniform(60, 2, 4, 3, 3, 4);
  const std::int64_t half = makespan(chain);
  chain.full_duplex = true;  // the link goes both ways
  EXPECT_LE(makespan(chain), half);
}

TEST(OffloadPlanner, CountsBytesInCoarseUnitsWithoutExceedingTheMemory) {
  OffloadChain chain = uniform(300, 20, 40, 90, 80, 0);
  for (std::size_t k = 0; k < 300; ++k) {
    chain.state_units[k] = 1000003 + static_cast<std::int64_t>(k * 7919 % 500009);
  }
  chain.fast_memory = 9'000'001;
  const OffloadPlan plan = plan_offload(chain, {}, 2'000'000);
  require_possible(chain, plan.run);
  EXPECT_LT(plan.run.makespan, makespan(chain, {false, true}));
}

TEST(OffloadPlanner, RefusesWhatIsNoChain) {
  OffloadChain chain = uniform(5, 1, 1, 1, 1, 3);
  chain.write.pop_back();
  EXPECT_THROW(plan_offload(chain), Error);
  chain = uniform(5, 1, 1, 1, 1, 3);
  chain.forward[2] = -1;
  EXPECT_THROW(plan_offload(chain), Error);
  EXPECT_THROW(plan_offload(OffloadChain{}), Error);
  EXPECT_EQ(plan_offload(uniform(5, 1, 1, 1, 1, 0)).run.makespan, -1);
}

// ---- as actions, on the machine of planners/lists/overlapped.h ----

constexpr std::int64_t kMostOps = 200'000;

TEST(OffloadActions, TakeAsLongAsTheChainSays) {
  for (const std::int64_t steps : {1, 2, 3, 7, 8, 9, 24, 60}) {
    for (const std::int64_t slots : {1, 2, 3, 5, 9}) {
      for (const std::int64_t transfer : {0, 1, 4}) {
        SCOPED_TRACE(std::to_string(steps) + " steps, " + std::to_string(slots) +
                     " slots, transfers of " + std::to_string(transfer));
        const OverlappedPlan plan =
            plan_offloaded(uniform(steps, 1, 2, transfer, transfer, 0), slots, kMostOps);
        const auto time = static_cast<double>(transfer);
        EXPECT_EQ(execute(steps, slots, {1, 2, time, time}, plan), plan.makespan);
      }
    }
  }
}

// Operations that overlap on the planner's machine stand in a list, and take no longer.
TEST(OffloadActions, DoWhatThePlannerPlayed) {
  for (const std::int64_t steps : {5, 8, 24, 60}) {
    for (const std::int64_t transfer : {0, 1, 2, 4}) {
      const OffloadChain chain = uniform(steps, 1, 2, transfer, transfer, 5);
      const OffloadPlan plan = plan_offload(chain, {}, kMostOps);
      const std::vector<OverlapAction> actions = actions_of(plan);
      for (const OverlapAction& action : actions) ASSERT_LT(action.slot, 5);
      EXPECT_LE(played_time(chain, actions), plan.run.makespan);
    }
  }
}

RC_GTEST_PROP(OffloadActions, PlayUnevenStepsInTheSlotsGiven, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 40);
  const auto transfer = *rc::gen::inRange<std::int64_t>(0, 9);
  OffloadChain chain = uniform(n, 1, 2, transfer, transfer, 0);
  for (std::int64_t& time : chain.forward) time = *rc::gen::inRange<std::int64_t>(1, 9);
  for (std::int64_t& time : chain.adjoint) time = *rc::gen::inRange<std::int64_t>(0, 9);
  const auto slots = *rc::gen::inRange<std::int64_t>(1, 8);
  const OverlappedPlan plan = plan_offloaded(chain, slots, 50'000);
  execute(n, slots, {1, 1, 1, 1}, plan);
}

// Costs that rise by a factor of ten: equal ones on the average do not plan them as well.
TEST(OffloadActions, GainWhereStepsDiffer) {
  OffloadChain chain = uniform(60, 1, 2, 40, 40, 0);
  for (std::size_t k = 0; k < chain.adjoint.size(); ++k) {
    const auto cost = static_cast<std::int64_t>(1 + k * 9 / 59);
    if (k < chain.forward.size()) chain.forward[k] = 4 * cost;
    chain.adjoint[k] = 8 * cost;
  }
  const OverlappedPlan found = plan_offloaded(chain, 6);
  const OverlappedPlan mean = plan_overlapped(60, 6, {22, 44, 40, 40}, OverlapSearch::kQuick);
  EXPECT_LT(found.makespan, static_cast<double>(played_time(chain, mean.actions)));
}

// States that grow by a factor of eight, written as large as they are and packed where there is
// room: the numbers of docs/theory-memory.md.
TEST(OffloadActions, GainWhereStatesDiffer) {
  constexpr std::int64_t kSteps = 200, kLargest = 40;
  OffloadChain chain = uniform(kSteps, 10, 20, 300, 300, 0), sized = chain;
  for (std::int64_t k = 0; k < kSteps; ++k) {
    const auto i = static_cast<std::size_t>(k);
    sized.state_units[i] = 5 + 36 * k / kSteps;
    sized.write[i] = sized.read[i] = 300 * sized.state_units[i] / kLargest;
  }
  for (const auto& [states, least, in_slots] : {std::tuple{4, 9143, 9990}, {10, 7890, 8560}}) {
    EXPECT_EQ(plan_offloaded(sized, states * kLargest).makespan, least);
    EXPECT_EQ(plan_offloaded(chain, states).makespan, in_slots);
  }
}

}  // namespace
}  // namespace anadrome::schedule

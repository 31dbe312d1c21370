// SPDX-License-Identifier: BSD-2-Clause
// Plans of offloading as actions, on the machine of planners/lists/overlapped.h.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "overlapped_machine.h"
#include "planners/offload/offloaded_plan.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

OffloadChain equal_chain(std::int64_t steps, std::int64_t transfer) {
  const auto n = static_cast<std::size_t>(steps);
  OffloadChain chain;
  chain.forward.assign(n - 1, 1);
  chain.adjoint.assign(n, 2);
  chain.state_units.assign(n, 1);
  chain.write.assign(n, transfer);
  chain.read.assign(n, transfer);
  return chain;
}

constexpr std::int64_t kMostOps = 200'000;

TEST(OffloadActions, TakeAsLongAsTheChainSays) {
  for (const std::int64_t steps : {1, 2, 3, 7, 8, 9, 24, 60}) {
    for (const std::int64_t slots : {1, 2, 3, 5, 9}) {
      for (const std::int64_t transfer : {0, 1, 4}) {
        SCOPED_TRACE(std::to_string(steps) + " steps, " + std::to_string(slots) +
                     " slots, transfers of " + std::to_string(transfer));
        const OverlappedPlan plan = plan_offloaded(equal_chain(steps, transfer), slots, kMostOps);
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
      OffloadChain chain = equal_chain(steps, transfer);
      chain.fast_memory = 5;
      const OffloadPlan plan = plan_offload(chain, {}, kMostOps);
      const std::vector<OverlapAction> actions = actions_of(plan);
      for (const OverlapAction& action : actions) ASSERT_LT(action.slot, 5);
      EXPECT_LE(played_time(chain, actions), plan.run.makespan);
    }
  }
}

RC_GTEST_PROP(OffloadActions, PlayUnevenStepsInTheSlotsGiven, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 40);
  OffloadChain chain = equal_chain(n, *rc::gen::inRange<std::int64_t>(0, 9));
  for (std::int64_t& time : chain.forward) time = *rc::gen::inRange<std::int64_t>(1, 9);
  for (std::int64_t& time : chain.adjoint) time = *rc::gen::inRange<std::int64_t>(0, 9);
  const auto slots = *rc::gen::inRange<std::int64_t>(1, 8);
  const OverlappedPlan plan = plan_offloaded(chain, slots, 50'000);
  execute(n, slots, {1, 1, 1, 1}, plan);
}

// Costs that rise by a factor of ten: equal ones on the average do not plan them as well.
TEST(OffloadActions, GainWhereStepsDiffer) {
  OffloadChain chain = equal_chain(60, 40);
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
  OffloadChain chain = equal_chain(kSteps, 300), sized = chain;
  for (std::int64_t k = 0; k < kSteps; ++k) {
    const auto i = static_cast<std::size_t>(k);
    if (k + 1 < kSteps) chain.forward[i] = sized.forward[i] = 10;
    chain.adjoint[i] = sized.adjoint[i] = 20;
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

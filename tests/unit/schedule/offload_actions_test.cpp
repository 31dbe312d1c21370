// Plans of offloading as actions, on the machine of schedule/overlapped.h.
#include "schedule/offload_actions.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "overlapped_machine.h"
#include "schedule/revolve.h"

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

TEST(OffloadActions, AreAPlanForTheSlotsGiven) {
  for (const std::int64_t steps : {1, 2, 3, 7, 8, 9, 24, 60}) {
    for (const std::int64_t slots : {1, 2, 3, 5, 9}) {
      for (const std::int64_t transfer : {0, 1, 4}) {
        SCOPED_TRACE(std::to_string(steps) + " steps, " + std::to_string(slots) +
                     " slots, transfers of " + std::to_string(transfer));
        const OverlappedPlan plan = plan_offloaded(equal_chain(steps, transfer), slots, kMostOps);
        const auto time = static_cast<double>(transfer);
        ASSERT_GE(plan.makespan, 0);
        EXPECT_LE(execute(steps, slots, {1, 2, time, time}, plan), plan.makespan)
            << "a state that is live takes no slot, so nothing waits longer";
      }
    }
  }
}

// In 24 steps with 3 slots and the live state, transfers of two: as the table of the planner.
TEST(OffloadActions, KeepWhatOffloadingGains) {
  const OverlappedPlan plan = plan_offloaded(equal_chain(24, 2), 3, 60'000'000);
  const double alone = 23.0 + static_cast<double>(extra_advances(24, 3)) - 23.0 + 24 * 2;
  EXPECT_LT(execute(24, 3, {1, 2, 2, 2}, plan), alone);
}

RC_GTEST_PROP(OffloadActions, PlayUnevenStepsInTheSlotsGiven, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 40);
  OffloadChain chain = equal_chain(n, *rc::gen::inRange<std::int64_t>(0, 9));
  for (std::int64_t& time : chain.forward) time = *rc::gen::inRange<std::int64_t>(1, 9);
  for (std::int64_t& time : chain.adjoint) time = *rc::gen::inRange<std::int64_t>(0, 9);
  const auto slots = *rc::gen::inRange<std::int64_t>(1, 8);
  const OverlappedPlan plan = plan_offloaded(chain, slots, 50'000);
  RC_ASSERT(plan.makespan >= 0);
  execute(n, slots, {1, 1, 1, 1}, plan);
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/offload/offloaded_plan.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "planners/lists/state_places.h"
#include "planners/memory/uneven.h"
#include "planners/offload/offload_actions.h"
#include "schedule/stack/stack_sweep.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

// The best plan so far, of those whose states have room.
class Best {
 public:
  Best(const OffloadChain& chain, std::int64_t memory)
      : chain_(chain), units_(chain.state_units), memory_(memory) {}

  /// By how many units it has too little room.
  std::int64_t try_plan(OverlappedPlan plan) {
    const std::int64_t needed = place_states(plan.actions, units_);
    if (needed > memory_) return needed - memory_;
    take(std::move(plan));
    return 0;
  }
  /// One that has room in slots for the largest state.
  void try_slots(OverlappedPlan plan) {
    place_slots(plan.actions, units_);
    take(std::move(plan));
  }
  OverlappedPlan plan() {
    plan_.makespan = real(time_);
    return std::move(plan_);
  }
  const StateUnits& units() const { return units_; }

 private:
  void take(OverlappedPlan plan) {
    const std::int64_t time = played_time(chain_, plan.actions);
    if (time >= time_) return;
    plan_ = std::move(plan);
    time_ = time;
  }

  const OffloadChain chain_;
  const StateUnits units_;
  const std::int64_t memory_;
  OverlappedPlan plan_;
  std::int64_t time_ = std::numeric_limits<std::int64_t>::max();
};

OverlapTimes mean_times(const OffloadChain& chain) {
  const auto mean = [](const std::vector<std::int64_t>& values) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return values.empty() ? 1.0 : sum / real(std::ssize(values));
  };
  return {std::max(mean(chain.forward), 1.0), mean(chain.adjoint), mean(chain.write),
          mean(chain.read)};
}

// How many equal slots a plan has room for depends on the sizes of its states: the first guess is
// as many as there are of the mean size.
void try_more_slots(const OffloadChain& chain, std::int64_t all_units, std::int64_t fit,
                    const OverlapTimes& times, std::int64_t memory, Best& best) {
  constexpr int kMostTries = 4;
  const std::int64_t n = chain.steps();
  const std::int64_t mean = std::max<std::int64_t>(all_units / n, 1);
  std::int64_t least = fit, most = n, slots = memory / mean;
  for (int tries = 0; tries < kMostTries && least + 1 < most; ++tries) {
    slots = std::clamp(slots, least + 1, most - 1);
    if (best.try_plan(plan_overlapped(n, slots, times, OverlapSearch::kQuick)) == 0) {
      least = slots;
      slots = most == n ? slots + slots / 4 + 1 : least + (most - least) / 2;
    } else {
      most = slots;
      slots = least + (most - least) / 2;
    }
  }
}

// Where transfers are of no use: what schedule=uneven does.
OverlappedPlan plan_in_ram(const OffloadChain& chain, std::int64_t memory) {
  constexpr std::int64_t kTablePerStep = 4 << 10;
  UnevenSteps steps;
  steps.costs = chain.forward;
  steps.costs.push_back(0);  // its adjoint runs it
  for (const std::int64_t units : chain.state_units)
    steps.state_bytes.push_back(std::max<std::int64_t>(units, 1));
  steps.bytes = memory;
  steps.table_bytes = chain.steps() * kTablePerStep;
  auto planner = std::make_unique<UnevenPlanner>(steps);
  StackOptions options;
  options.steps = chain.steps();
  options.units = planner->units();
  options.turn = false;
  StackSweep sweep(options, std::move(planner));
  OverlappedPlan plan;
  const auto add = [&plan](OverlapKind kind, const Kept& kept) {
    plan.actions.push_back({kind, static_cast<std::int32_t>(kept.place), kept.step, kept.step});
  };
  for (bool goes_on = true; goes_on;) {
    std::visit(
        Cases{[&](const Advance& run) {
                plan.actions.push_back({OverlapKind::kAdvance, -1, run.first, run.last});
              },
              [&](const Adjoint& next) {
                plan.actions.push_back({OverlapKind::kAdjoint, -1, next.step, next.step + 1});
              },
              [&](const Keep& kept) { add(OverlapKind::kKeep, kept); },
              [&](const Restore& kept) { add(OverlapKind::kRestore, kept); },
              [&](const Drop& kept) { add(OverlapKind::kDrop, kept); },
              [&](const Done&) { goes_on = false; },
              [](const auto&) {
                throw Error(ANADROME_ERR_INTERNAL, "a plan in RAM alone has other actions");
              }},
        sweep.next());
  }
  return plan;
}

}  // namespace

OverlappedPlan plan_offloaded(OffloadChain chain, std::int64_t memory, std::int64_t most_ops) {
  // The planner counts every state, the one a step makes and the one it starts from too; most of
  // the time neither takes room. And it does not see what regions of different sizes leave between
  // them.
  constexpr std::int64_t kMostBeside = 2, kMostPerStep = 64, kMostInRam = 4096;
  constexpr int kMostTries = 4;
  check(chain);
  Best best(chain, memory);
  const StateUnits& units = best.units();
  const std::int64_t n = chain.steps(), largest = std::max<std::int64_t>(units.largest(), 1);
  const std::int64_t all =
      std::accumulate(chain.state_units.begin(), chain.state_units.end(), std::int64_t{0});
  const std::int64_t slots = std::min(memory / largest, n), counted = std::min(memory, all);
  const OverlapTimes times = mean_times(chain);
  best.try_slots(plan_overlapped(n, slots, times, OverlapSearch::kQuick));
  if (!units.equal()) try_more_slots(chain, all, slots, times, memory, best);
  if (n <= kMostInRam) best.try_plan(plan_in_ram(chain, memory));
  const bool too_long = extra_advances_clamped(n, slots) > kMostPerStep * n;
  for (std::int64_t beside = 0; beside <= kMostBeside && !too_long; ++beside) {
    chain.fast_memory = counted + beside * largest;
    for (int tries = 0; tries < kMostTries && chain.fast_memory >= largest; ++tries) {
      const OffloadPlan plan = plan_offload(chain, {}, most_ops / (kMostBeside + 1));
      if (plan.run.makespan < 0) break;
      const std::int64_t lacking = best.try_plan(actions_of(plan).plan);
      if (lacking == 0 || units.equal()) break;
      chain.fast_memory -= lacking;
    }
  }
  return best.plan();
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/offload/offloaded_plan.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/index.h"
#include "planners/lists/clock.h"
#include "planners/lists/state_places.h"
#include "planners/memory/uneven.h"
#include "schedule/stack/stack_sweep.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

using What = OffloadEvent::What;

/// For each kMade: does the state have to be in a slot before it leaves? It has not where the one
/// thing that is done with it is the very next op.
std::vector<bool> find_kept(const std::vector<OffloadEvent>& events) {
  struct Stay {
    std::size_t made;
    std::int64_t ops_then, uses;
  };
  std::vector<bool> kept(events.size(), false);
  std::unordered_map<std::int64_t, Stay> stays;  // by state
  std::int64_t ops = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const OffloadEvent& event = events[i];
    const auto stay = stays.find(event.state);
    switch (event.what) {
      case What::kMade:
        stays[event.state] = {i, ops, 0};
        kept[i] = event.state == 0;
        break;
      case What::kForward:
      case What::kAdjoint:
        if (stay != stays.end()) {
          const bool at_once = stay->second.uses++ == 0 && stay->second.ops_then == ops;
          if (!at_once) kept[stay->second.made] = true;
        }
        ++ops;
        break;
      case What::kWrite:
        if (stay != stays.end()) kept[stay->second.made] = true;
        break;
      case What::kRead:
      case What::kAdjoined:
        break;
      case What::kLeft:
        stays.erase(event.state);
        break;
    }
  }
  return kept;
}

class Writer {
 public:
  explicit Writer(const std::vector<OffloadEvent>& events)
      : events_(events), kept_(find_kept(events)) {}

  std::vector<OverlapAction> write() {
    for (std::size_t i = 0; i < events_.size(); ++i) add(events_[i], kept_[i]);
    return std::move(actions_);
  }

 private:
  std::int32_t take_slot(std::int64_t state) {
    auto slot = static_cast<std::int32_t>(slots_);
    if (free_.empty()) {
      ++slots_;
    } else {
      slot = free_.top();
      free_.pop();
    }
    slot_of_[state] = slot;
    return slot;
  }

  void act(OverlapKind kind, std::int64_t state) {
    actions_.push_back({kind, slot_of_.at(state), state, state});
  }

  void make_live(std::int64_t state) {
    if (live_ == state) return;
    act(OverlapKind::kRestore, state);
    live_ = state;
  }

  // An advance goes on where nothing came between.
  void advance(std::int64_t step) {
    const bool goes_on = !actions_.empty() && actions_.back().kind == OverlapKind::kAdvance &&
                         actions_.back().last == step;
    if (goes_on) {
      ++actions_.back().last;
    } else {
      actions_.push_back({OverlapKind::kAdvance, -1, step, step + 1});
    }
    live_ = step + 1;
  }

  void add(const OffloadEvent& event, bool kept) {
    const std::int64_t state = event.state;
    switch (event.what) {
      case What::kMade:
        if (state > 0) advance(state - 1);
        if (!kept) return;
        take_slot(state);
        return act(OverlapKind::kKeep, state);
      case What::kForward:
      case What::kAdjoint:
        return make_live(state);
      // A transfer that begins under a step or an adjoint stands before it in the list.
      case What::kAdjoined:
        actions_.push_back({OverlapKind::kAdjoint, -1, state, state + 1});
        live_ = kNothing;
        return;
      case What::kLeft:
        if (!slot_of_.contains(state)) return;
        act(OverlapKind::kDrop, state);
        free_.push(slot_of_.at(state));
        slot_of_.erase(state);
        return;
      case What::kWrite:
        return act(OverlapKind::kWrite, state);
      case What::kRead:
        take_slot(state);
        return act(OverlapKind::kRead, state);
    }
  }

  static constexpr std::int64_t kNothing = -1;
  const std::vector<OffloadEvent>& events_;
  std::vector<bool> kept_;
  std::vector<OverlapAction> actions_;
  std::unordered_map<std::int64_t, std::int32_t> slot_of_;
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> free_;
  std::int64_t slots_ = 0, live_ = 0;
};

}  // namespace

std::vector<OverlapAction> actions_of(const OffloadPlan& plan) {
  return Writer(plan.run.events).write();
}

std::int64_t played_time(const OffloadChain& chain, const std::vector<OverlapAction>& actions) {
  const auto at = [](const std::vector<std::int64_t>& values, std::int64_t k) {
    return values[size(k)];
  };
  std::vector<std::int64_t> until = {0};  // step k ends, all taken in a row
  for (const std::int64_t time : chain.forward) until.push_back(until.back() + time);
  std::unordered_map<std::int64_t, std::int64_t> there, written;  // when, by state
  BusyRooms<std::int64_t> busy;
  Clock<std::int64_t> clock;
  for (const OverlapAction& action : actions) {
    const std::int64_t state = action.first;
    const Room room = {action.last, action.slot < 0 ? 0 : at(chain.state_units, state)};
    switch (action.kind) {
      case OverlapKind::kAdvance:
        clock.compute(at(until, action.last) - at(until, action.first));
        break;
      case OverlapKind::kKeep:
        clock.wait(busy.free_at(room, clock.now()));
        there[state] = clock.now();
        break;
      case OverlapKind::kRestore:
        clock.wait(there[state]);
        break;
      case OverlapKind::kDrop:
        busy.add(room, std::max(there[state], written[state]));
        break;
      case OverlapKind::kWrite:
        written[state] =
            clock.transfer(at(chain.write, state), std::max(clock.now(), there[state]));
        break;
      case OverlapKind::kRead:
        there[state] = clock.transfer(at(chain.read, state),
                                      std::max(busy.free_at(room, clock.now()), written[state]));
        break;
      case OverlapKind::kAdjoint:
        clock.compute(at(chain.adjoint, state));
        break;
    }
  }
  return clock.now();
}

// ---- the fastest plan ----

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
  // The planner counts the state that a step makes and the one it starts from, too, which mostly
  // take no room, and does not see what regions of different sizes leave between them.
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
      const std::int64_t lacking = best.try_plan({actions_of(plan)});
      if (lacking == 0 || units.equal()) break;
      chain.fast_memory -= lacking;
    }
  }
  return best.plan();
}

}  // namespace anadrome::schedule

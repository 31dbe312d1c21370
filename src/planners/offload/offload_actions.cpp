// SPDX-License-Identifier: BSD-2-Clause
#include "planners/offload/offload_actions.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/index.h"
#include "planners/lists/clock.h"

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

  OffloadActions write() {
    for (std::size_t i = 0; i < events_.size(); ++i) add(events_[i], kept_[i]);
    return {{std::move(actions_), 0}, slots_};
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

OffloadActions actions_of(const OffloadPlan& plan) {
  if (plan.run.makespan < 0) throw Error(ANADROME_ERR_ARGUMENT, "a plan that does not end");
  OffloadActions found = Writer(plan.run.events).write();
  found.plan.makespan = real(plan.run.makespan);
  return found;
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

}  // namespace anadrome::schedule

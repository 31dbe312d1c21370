#include "schedule/offload_actions.h"

#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "base/error.h"

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
        return make_live(state);
      case What::kAdjoint:
        make_live(state);
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
  found.plan.makespan = static_cast<double>(plan.run.makespan);
  return found;
}

// The planner counts every state, the one a step makes and the one it starts from too; most of the
// time neither needs a slot.
OverlappedPlan plan_offloaded(OffloadChain chain, std::int64_t slots, std::int64_t most_ops) {
  constexpr std::int64_t kMostBeside = 2;
  OverlappedPlan best;
  best.makespan = -1;
  for (std::int64_t beside = 0; beside <= kMostBeside; ++beside) {
    chain.fast_memory = slots + beside;
    const OffloadPlan plan = plan_offload(chain, {}, most_ops / (kMostBeside + 1));
    if (plan.run.makespan < 0) continue;
    OffloadActions found = actions_of(plan);
    if (found.slots > slots) continue;
    if (best.makespan < 0 || found.plan.makespan < best.makespan) best = std::move(found.plan);
  }
  return best;
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/state_places.h"

#include <limits>
#include <numeric>
#include <unordered_map>

#include "base/index.h"

namespace anadrome::schedule {
namespace {

// The time that a state spends in memory, in actions.
struct Stay {
  std::size_t begin, end;
  std::int64_t units;
  std::int64_t place = 0;
};

struct Region {
  std::int64_t begin, end;
};

bool begins_stay(const OverlapAction& action) {
  return action.kind == OverlapKind::kKeep || action.kind == OverlapKind::kRead;
}

// The lowest gap of `units` between regions, which are sorted here.
std::int64_t first_fit(std::vector<Region>& taken, std::int64_t units) {
  std::sort(taken.begin(), taken.end(),
            [](const Region& a, const Region& b) { return a.begin < b.begin; });
  std::int64_t place = 0;
  for (const Region& region : taken) {
    if (region.begin - place >= units) break;
    place = std::max(place, region.end);
  }
  return place;
}

class Packing {
 public:
  Packing(const std::vector<OverlapAction>& actions, const StateUnits& units) {
    std::unordered_map<std::int64_t, std::size_t> there;  // stay, by step
    std::int64_t load = 0;
    of_action_.assign(actions.size(), kNone);
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const OverlapAction& action = actions[i];
      if (action.slot < 0) continue;
      if (begins_stay(action)) {
        there[action.first] = stays_.size();
        stays_.push_back({i, actions.size(), units.of(action.first)});
        load += units.of(action.first);
        most_at_a_time_ = std::max(most_at_a_time_, load);
      }
      const std::size_t stay = there.at(action.first);
      of_action_[i] = stay;
      if (action.kind != OverlapKind::kDrop) continue;
      stays_[stay].end = i;
      load -= stays_[stay].units;
      there.erase(action.first);
    }
  }

  std::int64_t pack() {
    pack_in_time();
    constexpr std::size_t kMostSorted = 4096;  // each is compared with all others
    if (needed_ == most_at_a_time_ || stays_.size() > kMostSorted) return needed_;
    const auto units = [](const Stay& stay) { return real(stay.units); };
    const auto time = [](const Stay& stay) { return static_cast<double>(stay.end - stay.begin); };
    pack_by(units);
    pack_by(time);
    pack_by([&](const Stay& stay) { return units(stay) * time(stay); });
    return needed_;
  }

  void write(std::vector<OverlapAction>& actions) const {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (of_action_[i] != kNone) actions[i].last = stays_[of_action_[i]].place;
    }
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  void pack_in_time() {
    std::vector<std::size_t> there;
    std::vector<Region> taken;
    for (std::size_t s = 0; s < stays_.size(); ++s) {
      Stay& stay = stays_[s];
      std::erase_if(there, [&](std::size_t other) { return stays_[other].end < stay.begin; });
      taken.clear();
      for (const std::size_t other : there)
        taken.push_back({stays_[other].place, stays_[other].place + stays_[other].units});
      stay.place = first_fit(taken, stay.units);
      needed_ = std::max(needed_, stay.place + stay.units);
      there.push_back(s);
    }
  }

  // The one with the largest `weight` first.
  template <class Weight>
  void pack_by(const Weight& weight) {
    if (needed_ == most_at_a_time_) return;
    std::vector<std::size_t> order(stays_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return weight(stays_[a]) > weight(stays_[b]);
    });
    std::vector<Stay> packed = stays_;
    std::vector<Region> taken;
    std::int64_t needed = 0;
    for (std::size_t i = 0; i < order.size() && needed < needed_; ++i) {
      Stay& stay = packed[order[i]];
      taken.clear();
      for (std::size_t j = 0; j < i; ++j) {
        const Stay& other = packed[order[j]];
        const bool meet = other.begin < stay.end && stay.begin < other.end;
        if (meet) taken.push_back({other.place, other.place + other.units});
      }
      stay.place = first_fit(taken, stay.units);
      needed = std::max(needed, stay.place + stay.units);
    }
    if (needed >= needed_) return;
    needed_ = needed;
    stays_ = std::move(packed);
  }

  std::vector<Stay> stays_;
  std::vector<std::size_t> of_action_;
  std::int64_t most_at_a_time_ = 0, needed_ = 0;
};

}  // namespace

void place_slots(std::vector<OverlapAction>& actions, const StateUnits& units) {
  for (OverlapAction& action : actions) {
    if (action.slot >= 0) action.last = action.slot * units.largest();
  }
}

std::int64_t place_states(std::vector<OverlapAction>& actions, const StateUnits& units) {
  Packing packing(actions, units);
  const std::int64_t needed = packing.pack();
  packing.write(actions);
  return needed;
}

}  // namespace anadrome::schedule

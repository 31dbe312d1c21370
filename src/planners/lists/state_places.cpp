// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/state_places.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>

#include "base/index.h"

namespace anadrome::schedule {

Stays stays_of(const std::vector<OverlapAction>& actions) {
  Stays stays;
  stays.of_action.assign(actions.size(), -1);
  std::unordered_map<std::int64_t, std::int32_t> in_slot;  // by step
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const OverlapAction& action = actions[i];
    if (action.slot < 0) continue;
    const bool read = action.kind == OverlapKind::kRead;
    if (read || action.kind == OverlapKind::kKeep) {
      in_slot[action.first] = static_cast<std::int32_t>(stays.all.size());
      stays.all.push_back({i, actions.size(), read});
    }
    const std::int32_t stay = stays.of_action[i] = in_slot.at(action.first);
    if (action.kind == OverlapKind::kWrite) stays.all[at(stay)].with_disk = true;
    if (action.kind != OverlapKind::kDrop) continue;
    stays.all[at(stay)].end = i;
    in_slot.erase(action.first);
  }
  return stays;
}

std::int64_t number_disk_states(std::vector<OverlapAction>& actions) {
  const Stays stays = stays_of(actions);
  std::unordered_map<std::int64_t, std::size_t> last_read;  // action, by step
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (actions[i].kind == OverlapKind::kRead) last_read[actions[i].first] = i;
  }
  std::unordered_map<std::int64_t, std::int32_t> numbers;  // by step
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> free;
  std::int32_t count = 1;
  bool any = false;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    OverlapAction& action = actions[i];
    const std::int32_t stay = stays.of_action[i];
    if (stay < 0 || !stays.all[at(stay)].with_disk) continue;
    auto number = numbers.find(action.first);
    if (number == numbers.end()) {
      std::int32_t lowest = count;
      any = true;
      if (action.first == 0) {
        lowest = 0;
      } else if (free.empty()) {
        ++count;
      } else {
        lowest = free.top();
        free.pop();
      }
      number = numbers.emplace(action.first, lowest).first;
    }
    action.slot = disk_place(number->second);
    if (action.kind != OverlapKind::kDrop) continue;
    const auto read = last_read.find(action.first);
    if (read != last_read.end() && read->second > i) continue;
    if (action.first != 0) free.push(number->second);
    numbers.erase(number);
  }
  return any ? count : 0;
}

namespace {

struct PlacedStay : Stay {
  std::int64_t units;
  std::int64_t place = 0;
};

struct Region {
  std::int64_t begin, end;
};

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
    Stays stays = stays_of(actions);
    of_action_ = std::move(stays.of_action);
    for (const Stay& stay : stays.all) {
      stays_.push_back({stay, units.of(actions[stay.begin].first)});
    }
    std::int64_t load = 0;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (of_action_[i] < 0) continue;
      const PlacedStay& stay = stays_[at(of_action_[i])];
      if (stay.begin == i) load += stay.units;
      if (stay.end == i) load -= stay.units;
      most_at_a_time_ = std::max(most_at_a_time_, load);
    }
  }

  std::int64_t pack() {
    pack_in_time();
    constexpr std::size_t kMostSorted = 4096;  // each is compared with all others
    if (needed_ == most_at_a_time_ || stays_.size() > kMostSorted) return needed_;
    const auto units = [](const PlacedStay& stay) { return real(stay.units); };
    const auto time = [](const PlacedStay& stay) {
      return static_cast<double>(stay.end - stay.begin);
    };
    pack_by(units);
    pack_by(time);
    pack_by([&](const PlacedStay& stay) { return units(stay) * time(stay); });
    return needed_;
  }

  void write(std::vector<OverlapAction>& actions) const {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (of_action_[i] >= 0) actions[i].last = stays_[at(of_action_[i])].place;
    }
  }

 private:
  void pack_in_time() {
    std::vector<std::size_t> there;
    std::vector<Region> taken;
    for (std::size_t s = 0; s < stays_.size(); ++s) {
      PlacedStay& stay = stays_[s];
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
    std::vector<PlacedStay> packed = stays_;
    std::vector<Region> taken;
    std::int64_t needed = 0;
    for (std::size_t i = 0; i < order.size() && needed < needed_; ++i) {
      PlacedStay& stay = packed[order[i]];
      taken.clear();
      for (std::size_t j = 0; j < i; ++j) {
        const PlacedStay& other = packed[order[j]];
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

  std::vector<PlacedStay> stays_;
  std::vector<std::int32_t> of_action_;
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

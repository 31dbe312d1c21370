// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlap_places.h"

#include <functional>
#include <queue>
#include <unordered_map>

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

}  // namespace anadrome::schedule

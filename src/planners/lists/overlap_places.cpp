// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlap_places.h"

#include <functional>
#include <queue>
#include <unordered_map>

#include "base/index.h"

namespace anadrome::schedule {
namespace {

// The time that a state spends in a slot, from kKeep or kRead to kDrop.
struct Stays {
  std::vector<std::int32_t> of_action;  ///< -1: the action has no slot
  std::vector<bool> with_disk;
  std::unordered_map<std::int64_t, std::size_t> last_read;  ///< action, by step
};

Stays find_stays(const std::vector<OverlapAction>& actions) {
  Stays stays;
  stays.of_action.assign(actions.size(), -1);
  std::unordered_map<std::int64_t, std::int32_t> in_slot;  // by step
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const OverlapAction& action = actions[i];
    if (action.slot < 0) continue;
    const bool begins = action.kind == OverlapKind::kKeep || action.kind == OverlapKind::kRead;
    if (begins) {
      in_slot[action.first] = static_cast<std::int32_t>(stays.with_disk.size());
      stays.with_disk.push_back(action.kind == OverlapKind::kRead);
    }
    const std::int32_t stay = in_slot.at(action.first);
    stays.of_action[i] = stay;
    if (action.kind == OverlapKind::kWrite) stays.with_disk[at(stay)] = true;
    if (action.kind == OverlapKind::kRead) stays.last_read[action.first] = i;
    if (action.kind == OverlapKind::kDrop) in_slot.erase(action.first);
  }
  return stays;
}

}  // namespace

std::int64_t number_disk_states(std::vector<OverlapAction>& actions) {
  const Stays stays = find_stays(actions);
  std::unordered_map<std::int64_t, std::int32_t> numbers;  // by step
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> free;
  std::int32_t count = 1;
  bool any = false;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    OverlapAction& action = actions[i];
    const std::int32_t stay = stays.of_action[i];
    if (stay < 0 || !stays.with_disk[at(stay)]) continue;
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
    const auto read = stays.last_read.find(action.first);
    if (read != stays.last_read.end() && read->second > i) continue;
    if (action.first != 0) free.push(number->second);
    numbers.erase(number);
  }
  return any ? count : 0;
}

}  // namespace anadrome::schedule

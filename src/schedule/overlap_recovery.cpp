// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/overlap_recovery.h"

#include <functional>
#include <set>
#include <utility>

#include "schedule/overlap_interval.h"
#include "schedule/overlap_piece.h"
#include "schedule/overlap_places.h"

namespace anadrome::schedule {
namespace {

class Recovery {
 public:
  Recovery(std::int64_t memory, const StateUnits& units, const StatesLeft& left)
      : memory_(memory), units_(units), held_(left.in_memory) {}

  /// Slots for any state, beside what is held.
  std::int64_t free_slots() const {
    std::int64_t slots = 0;
    for (const Gap& gap : gaps()) slots += (gap.end - gap.begin) / units_.largest();
    return slots;
  }

  void add(OverlapKind kind, std::int64_t step, std::int64_t last = 0) {
    if (kind == OverlapKind::kKeep) hold(step, 0, units_.largest());
    const bool has_place =
        kind == OverlapKind::kKeep || kind == OverlapKind::kRestore || kind == OverlapKind::kDrop;
    if (!has_place) {
      actions_.push_back({kind, -1, step, last});
      return;
    }
    const auto held = held_.find(step);
    actions_.push_back({kind, held->second.place, step, held->second.begin});
    if (kind == OverlapKind::kDrop) held_.erase(held);
  }

  /// False: there is no room for it.
  bool read(std::int64_t step, std::int32_t place) {
    if (!hold(step, place, units_.of(step))) return false;
    actions_.push_back({OverlapKind::kRead, place, step, held_.at(step).begin});
    return true;
  }

  std::vector<OverlapAction> actions() { return std::move(actions_); }

 private:
  struct Gap {
    std::int64_t begin, end;
  };

  std::vector<Gap> gaps() const {
    std::map<std::int64_t, std::int64_t> taken;  // end, by begin
    for (const auto& [step, held] : held_) {
      std::int64_t& end = taken[held.begin];
      end = std::max(end, held.begin + units_.of(step));
    }
    std::vector<Gap> gaps;
    std::int64_t begin = 0;
    for (const auto& [first, end] : taken) {
      if (first > begin) gaps.push_back({begin, first});
      begin = std::max(begin, end);
    }
    if (memory_ > begin) gaps.push_back({begin, memory_});
    return gaps;
  }

  // A checkpoint in memory is named by where it begins.
  bool hold(std::int64_t step, std::int32_t disk_place, std::int64_t units) {
    for (const Gap& gap : gaps()) {
      if (gap.end - gap.begin < units) continue;
      const bool on_disk = is_disk_place(disk_place);
      held_[step] = {on_disk ? disk_place : static_cast<std::int32_t>(gap.begin), gap.begin};
      return true;
    }
    return false;
  }

  std::int64_t memory_;
  const StateUnits& units_;
  std::map<std::int64_t, StatesLeft::InMemory> held_;  ///< by step
  std::vector<OverlapAction> actions_;
};

void reverse_from(std::int64_t base, std::int64_t end, Recovery& recovery) {
  recovery.add(OverlapKind::kRestore, base);
  OverlapPiece piece;
  append_revolve(piece, 0, end - base, recovery.free_slots() + 1);
  for (const OverlapMove& move : piece)
    recovery.add(move.kind, base + move.first, base + move.last);
}

}  // namespace

StatesLeft states_left(const std::vector<OverlapAction>& actions, std::size_t count) {
  StatesLeft left;
  std::map<std::int32_t, std::int64_t> written;  // step, by place
  for (std::size_t i = 0; i < count; ++i) {
    const OverlapAction& action = actions[i];
    const bool arrives = action.kind == OverlapKind::kKeep || action.kind == OverlapKind::kRead;
    if (arrives) left.in_memory[action.first] = {action.slot, action.last};
    if (action.kind == OverlapKind::kDrop) left.in_memory.erase(action.first);
    if (action.kind == OverlapKind::kWrite) written[action.slot] = action.first;
    // A number that is kept again holds another state.
    if (action.kind == OverlapKind::kKeep) written.erase(action.slot);
  }
  for (const auto& [place, step] : written) left.on_disk[step] = place;
  return left;
}

std::vector<OverlapAction> recover(std::int64_t steps, std::int64_t memory, const StateUnits& units,
                                   const StatesLeft& left) {
  Recovery recovery(memory, units, left);
  std::set<std::int64_t, std::greater<>> bases;
  for (const auto& [step, held] : left.in_memory) bases.insert(step);
  for (const auto& [step, place] : left.on_disk) bases.insert(step);
  std::int64_t end = steps;
  for (const std::int64_t base : bases) {
    const bool in_memory = left.in_memory.contains(base);
    if (base >= end) {  // of no use any more
      if (in_memory) recovery.add(OverlapKind::kDrop, base);
      continue;
    }
    // The states below may fill the memory.
    if (!in_memory && !recovery.read(base, left.on_disk.at(base))) continue;
    reverse_from(base, end, recovery);
    end = base;
  }
  return end == 0 ? recovery.actions() : std::vector<OverlapAction>{};
}

}  // namespace anadrome::schedule

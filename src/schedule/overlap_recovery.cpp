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
  Recovery(std::int64_t slots, const StatesLeft& left) : slots_(slots), places_(left.in_memory) {
    for (const auto& [step, place] : places_) {
      if (!is_disk_place(place)) used_.insert(place);
    }
  }

  std::int64_t slots_in_use() const { return static_cast<std::int64_t>(places_.size()); }
  std::int64_t slots() const { return slots_; }

  void add(OverlapKind kind, std::int64_t step, std::int64_t last = 0) {
    std::int32_t place = -1;
    if (kind == OverlapKind::kKeep) places_[step] = take_slot();
    const auto held = places_.find(step);
    const bool has_place =
        kind == OverlapKind::kKeep || kind == OverlapKind::kRestore || kind == OverlapKind::kDrop;
    if (has_place) place = held->second;
    actions_.push_back({kind, place, step, last});
    if (kind != OverlapKind::kDrop) return;
    used_.erase(place);
    places_.erase(held);
  }

  void read(std::int64_t step, std::int32_t place) {
    places_[step] = place;
    actions_.push_back({OverlapKind::kRead, place, step, 0});
  }

  std::vector<OverlapAction> actions() { return std::move(actions_); }

 private:
  std::int32_t take_slot() {
    std::int32_t slot = 0;
    while (used_.contains(slot)) ++slot;
    used_.insert(slot);
    return slot;
  }

  std::int64_t slots_;
  std::map<std::int64_t, std::int32_t> places_;  ///< what is in memory, by step
  std::set<std::int32_t> used_;
  std::vector<OverlapAction> actions_;
};

void reverse_from(std::int64_t base, std::int64_t end, Recovery& recovery) {
  recovery.add(OverlapKind::kRestore, base);
  OverlapPiece piece;
  append_revolve(piece, 0, end - base, recovery.slots() - recovery.slots_in_use() + 1);
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
    if (arrives) left.in_memory[action.first] = action.slot;
    if (action.kind == OverlapKind::kDrop) left.in_memory.erase(action.first);
    if (action.kind == OverlapKind::kWrite) written[action.slot] = action.first;
    // A number that is kept again holds another state.
    if (action.kind == OverlapKind::kKeep) written.erase(action.slot);
  }
  for (const auto& [place, step] : written) left.on_disk[step] = place;
  return left;
}

std::vector<OverlapAction> recover(std::int64_t steps, std::int64_t slots, const StatesLeft& left) {
  Recovery recovery(slots, left);
  std::set<std::int64_t, std::greater<>> bases;
  for (const auto* states : {&left.in_memory, &left.on_disk}) {
    for (const auto& [step, place] : *states) bases.insert(step);
  }
  std::int64_t end = steps;
  for (const std::int64_t base : bases) {
    const bool in_memory = left.in_memory.contains(base);
    if (base >= end) {  // of no use any more
      if (in_memory) recovery.add(OverlapKind::kDrop, base);
      continue;
    }
    if (!in_memory) {
      if (recovery.slots_in_use() == slots) continue;  // what lies below fills the memory
      recovery.read(base, left.on_disk.at(base));
    }
    reverse_from(base, end, recovery);
    end = base;
  }
  return end == 0 ? recovery.actions() : std::vector<OverlapAction>{};
}

}  // namespace anadrome::schedule

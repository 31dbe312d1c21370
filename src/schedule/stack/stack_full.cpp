// SPDX-License-Identifier: BSD-2-Clause
// StackSweep, the part for a disk that is full: what is on it stays, and what follows has all of
// the memory.
#include <algorithm>

#include "schedule/stack/stack_sweep.h"

namespace anadrome::schedule {

// Those that there are, and the one to which the sweep is on its way.
std::int64_t StackSweep::fewest_anchors() const {
  const bool one_more = leading() && planner_->on_the_way();
  return std::max<std::int64_t>(anchors().count(), 1) + (one_more ? 1 : 0);
}

void StackSweep::disk_holds(std::int64_t anchors) {
  if (options_.anchors_stay) options_.disk_slots = std::max(anchors, fewest_anchors());
}

// Up to the newest anchor all goes on as it was planned.
void StackSweep::disk_is_full(const DiskLeft& left) {
  if (!options_.anchors_stay) return;
  options_.disk_slots = fewest_anchors();
  if (left.slots == 0 || anchors().empty()) return;
  full_ = {anchors().newest_step(), left.slots - 1};
  planner_->use_all(left.slots);
}

// Where the next state after the newest kept one is kept, for the steps up to `end`.
std::int64_t StackSweep::next_from_kept(std::int64_t end, const KeptStack::Part& kept) const {
  const std::int64_t from = stack_.restarts_at(kept);
  const Segment here = segment(from, end, kept);
  const Placement next = planner_->place(here);
  if (next.place == Place::kRevolve && here.held != Place::kNowhere) {
    const std::int64_t slots = here.units + here.disk_slots + 1;
    return from + multistage_split(splitter_, end - from, slots);
  }
  return next.place == Place::kNowhere ? from + next.advance : from;
}

// Had the live state been advanced to from the newest kept one, would it go on?
bool StackSweep::on_the_way(std::int64_t end, const KeptStack::Part& kept) const {
  const std::int64_t from = stack_.restarts_at(kept);
  return from != kUnknown && from < live_ && live_ < next_from_kept(end, kept);
}

uint128 StackSweep::advances_above(std::int64_t end, const KeptStack::Part& kept) const {
  const auto reversed = [&](std::int64_t first, std::int64_t last) -> uint128 {
    return last - first <= 1 ? 0 : planner_->advances(segment(first, last, kept));
  };
  const std::int64_t from = stack_.restarts_at(kept);
  if (from == kUnknown) return reversed(live_, end);
  if (live_ == kUnknown) return reversed(from, end);
  if (on_the_way(end, kept)) return reversed(from, end) - wide(live_ - from);
  return reversed(live_, end) + reversed(from, live_);
}

}  // namespace anadrome::schedule

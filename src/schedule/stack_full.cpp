// SPDX-License-Identifier: BSD-2-Clause
// StackSweep, the part for a disk that is full: what is on it stays, and Revolve has all of the
// memory for the rest.
#include <algorithm>

#include "schedule/stack_sweep.h"

namespace anadrome::schedule {

// Those that there are, and the one to which the sweep is on its way.
std::int64_t StackSweep::fewest_anchors() const {
  const bool one_more = leading() && planner_->on_the_way();
  return std::max<std::int64_t>(anchors().count(), 1) + (one_more ? 1 : 0);
}

void StackSweep::disk_holds(std::int64_t anchors) {
  if (options_.anchors_stay) options_.disk_slots = std::max(anchors, fewest_anchors());
}

// Up to the newest state that stays, all goes on as it was planned. It is in nobody's way: with
// what is read ahead it has its part of the memory, and no place on disk that others have.
void StackSweep::disk_is_full(const DiskLeft& left) {
  if (options_.anchors_stay) {
    options_.disk_slots = fewest_anchors();
    if (left.slots == 0 || anchors().empty()) return;
    full_ = {anchors().newest_step(), left.slots - 1, {}};
    planner_->use_all(left.slots);
    return;
  }
  if (steps_ == kUnknown) return;  // each refused state is lost when it is asked for
  options_.disk_slots = std::min(options_.disk_slots, left.places);
  if (left.slots > 0) full_.units = left.slots;
  full_.units = std::max(full_.units, options_.units);
  const bool ready = planner_->ready();
  if (!ready) full_.above = 0;
  full_.kept = best_to_keep(left);
  const bool some = full_.kept.depth > 0 && ready;
  full_.above = std::min(full_.above, some ? stack_.top(full_.kept).step : 0);
  if (stack_.all().depth > full_.kept.depth) pending_ = Pending::kShrink;
}

// States that were kept for a larger disk may be in the wrong places: where giving up the newest of
// them saves steps, because others can be kept in their places, they go. Each such place is written
// once more.
KeptStack::Part StackSweep::best_to_keep(const DiskLeft& left) const {
  KeptStack::Part kept = stack_.all();
  while (kept.depth > 0 && kept.disk_slots > left.places) stack_.pop(kept);
  uint128 below = 0;
  for (KeptStack::Part part = kept; part.depth > 1; stack_.pop(part)) below += advances_below(part);
  const std::int64_t places = kept.disk_slots;
  KeptStack::Part best = kept;
  double fewest = 0;
  for (bool first = true; kept.depth > 0; stack_.pop(kept), first = false) {
    const double steps = static_cast<double>(below + advances_above(target_ + 1, kept)) +
                         static_cast<double>(places - kept.disk_slots) * left.steps_per_write;
    if (first || steps < fewest) {
      fewest = steps;
      best = kept;
    }
    if (kept.depth > 1) below -= advances_below(kept);
  }
  return best;
}

// Where the next state after the newest kept one is kept, for the steps up to `end`.
std::int64_t StackSweep::next_from_kept(std::int64_t end, const KeptStack::Part& kept) const {
  const std::int64_t from = stack_.restarts_at(kept);
  const Segment here = segment_above(from, end, kept);
  Placement next = planner_above().place(here);
  if (next.place == Place::kRevolve) next = revolve_.place(here);
  return next.place == Place::kNowhere ? from + next.advance : from;
}

// Had the live state been advanced to from the newest kept one, would it go on?
bool StackSweep::on_the_way(std::int64_t end, const KeptStack::Part& kept) const {
  const std::int64_t from = stack_.restarts_at(kept);
  return from != kUnknown && from < live_ && live_ < next_from_kept(end, kept);
}

// Of all of the memory, where the disk is full.
Segment StackSweep::segment_above(std::int64_t first, std::int64_t last,
                                  const KeptStack::Part& kept) const {
  Segment here = segment(first, last, kept);
  if (!options_.anchors_stay) here.units = full_.units - kept.units;
  return here;
}

uint128 StackSweep::advances_above(std::int64_t end, const KeptStack::Part& kept) const {
  const auto reversed = [&](std::int64_t first, std::int64_t last) -> uint128 {
    return last - first <= 1 ? 0 : planner_above().advances(segment_above(first, last, kept));
  };
  const std::int64_t from = stack_.restarts_at(kept);
  if (from == kUnknown) return reversed(live_, end);
  if (live_ == kUnknown) return reversed(from, end);
  if (on_the_way(end, kept)) return reversed(from, end) - static_cast<uint128>(live_ - from);
  return reversed(live_, end) + reversed(from, live_);
}

// From the state below the newest kept one to that.
uint128 StackSweep::advances_below(KeptStack::Part kept) const {
  const std::int64_t end = stack_.top(kept).step;
  stack_.pop(kept);
  const std::int64_t from = stack_.restarts_at(kept);
  if (from == kUnknown || end - from <= 1) return 0;
  return planner(end).advances(segment(from, end, kept));
}

}  // namespace anadrome::schedule

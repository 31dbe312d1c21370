// SPDX-License-Identifier: BSD-2-Clause
// StackSweep, the part that counts what is still to come: exactly, without playing it.
#include <algorithm>

#include "schedule/stack/stack_sweep.h"

namespace anadrome::schedule {

uint128 StackSweep::advances_of_gap(std::int64_t first, std::int64_t last) const {
  if (last - first <= 1) return 0;
  const std::int64_t free = last > full_.above ? full_.units : units();
  return planner_->advances({first, last, Place::kDisk, free});
}

uint128 StackSweep::gaps_between_anchors(std::int64_t count) const {
  uint128 total = 0;
  const auto add = [&](std::int64_t times, std::int64_t first, std::int64_t last) {
    if (times > 0) total += wide(times) * advances_of_gap(first, last);
  };
  const auto& stretches = anchors().stretches();
  for (std::size_t i = 0; i < stretches.size() && stretches[i].number < count - 1; ++i) {
    const std::int64_t first = stretches[i].number;
    const std::int64_t end = i + 1 < stretches.size() ? stretches[i + 1].number : anchors().count();
    const std::int64_t last = std::min(end, count) - 1;
    add(last - first, stretches[i].step, stretches[i].step + stretches[i].spacing);
    if (last == end - 1 && end < count) add(1, anchors().step(last), anchors().step(end));
  }
  return total;
}

// The live state's part, the stack's from its top down, then what lies between anchors.
std::int64_t StackSweep::advances_remaining() const {
  if (done_) return 0;
  if (steps_ == kUnknown || !planner_->ready()) return kUnknown;
  std::int64_t end = target_ + 1;  // steps below this one are still to be reversed
  if (end <= 0) return 0;
  uint128 total = options_.record ? wide(end) : 0;
  KeptStack::Part kept = this->kept();
  if (tape_ != kUnknown && tape_ == target_ && !stack_.has_tape(tape_)) {
    --total;
    --end;
  }
  std::int64_t live = live_;
  if (pending_ == Pending::kRecord) {
    ++total;  // its tape is on the stack, and not recorded yet
    ++live;
  }
  const bool leads = leading();
  if (leads) {
    const std::int64_t from = std::max<std::int64_t>(stack_.base(), 0);
    Segment ahead = segment(from, end, kept);
    ahead.held = Place::kDisk;
    total += planner_->advances_ahead(ahead) - wide(live - from);
    end = from;
  } else if (live != kUnknown && live < end && live != stack_.restarts_at(kept)) {
    const Segment here = segment(live, end, kept);
    const std::int64_t from = stack_.restarts_at(kept);
    if (starts_from_kept() && live == live_ && on_the_way(end, kept)) {
      total += advances_above(end, kept);
      end = from;
    } else if (here.units == 0 && here.disk_slots == 0 && !stack_.empty()) {
      total += wide(--end - live);  // straight on
    } else {
      if (end - live > 1) total += planner_->advances(here);
      end = live;
    }
  }
  for (; kept.depth > 0; stack_.pop(kept)) {
    const KeptStack::Entry& entry = stack_.top(kept);
    if (entry.place == Place::kTape && entry.step <= target_) --total;
    const std::int64_t from = stack_.restarts_at(kept);
    if (from != kUnknown && end - from > 1) {
      total += planner_->advances(segment(from, end, kept));
    }
    end = std::min(end, entry.step);
  }
  std::int64_t active = stack_.active();
  if (!leads) {
    while (active > 1 && anchors().step(active - 1) >= end) --active;
    if (active > 0) total += advances_of_gap(anchors().step(active - 1), end);
  }
  total += gaps_between_anchors(active);
  return total > wide(kNoLimit) ? kNoLimit : static_cast<std::int64_t>(total);
}

}  // namespace anadrome::schedule

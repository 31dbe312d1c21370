// StackSweep, the part that counts what is still to come: exactly, without playing it.
#include <algorithm>

#include "schedule/stack_sweep.h"

namespace anadrome::schedule {

Segment StackSweep::gap(std::int64_t first, std::int64_t last) const {
  Segment segment;
  segment.first = first;
  segment.last = last;
  segment.held = Place::kDisk;
  segment.units = units();
  return segment;
}

uint128 StackSweep::gaps_between_anchors(std::int64_t count) const {
  uint128 total = 0;
  const auto add = [&](std::int64_t times, std::int64_t first, std::int64_t last) {
    if (times > 0 && last - first > 1) {
      total += static_cast<uint128>(times) * planner_->advances(gap(first, last));
    }
  };
  const auto& stretches = anchors_.stretches();
  for (std::size_t i = 0; i < stretches.size() && stretches[i].number < count - 1; ++i) {
    const std::int64_t first = stretches[i].number;
    const std::int64_t end = i + 1 < stretches.size() ? stretches[i + 1].number : anchors_.count();
    const std::int64_t last = std::min(end, count) - 1;
    add(last - first, stretches[i].step, stretches[i].step + stretches[i].spacing);
    if (last == end - 1 && end < count) add(1, anchors_.step(last), anchors_.step(end));
  }
  return total;
}

// The live state's part, the stack's from its top down, then what lies between anchors.
std::int64_t StackSweep::advances_remaining() const {
  if (done_) return 0;
  if (steps_ == kUnknown || !planner_->ready()) return kUnknown;
  std::int64_t end = target_ + 1;  // steps below this one are still to be reversed
  if (end <= 0) return 0;
  uint128 total = options_.record ? static_cast<uint128>(end) : 0;
  Account account = account_;
  const auto used = stack_.begin() + account_.depth;
  const bool tape_is_kept = std::any_of(
      used - std::min<std::int64_t>(account_.depth, 2), used,  // only x_n can lie above it
      [this](const Entry& entry) { return entry.place == Place::kTape && entry.step == tape_; });
  if (tape_ != kUnknown && tape_ == target_ && !tape_is_kept) {
    --total;
    --end;
  }
  std::int64_t live = live_;
  if (pending_ == Pending::kRecord) {
    ++total;  // its tape is on the stack, and not recorded yet
    ++live;
  }
  const bool leads = leading();
  const std::int64_t from_below = account.depth > 0 ? restarts_at(newest()) : base_;
  if (leads) {
    const std::int64_t from = std::max<std::int64_t>(base_, 0);
    Segment ahead = segment(from, end, account);
    ahead.held = Place::kDisk;
    total += planner_->advances_ahead(ahead) - static_cast<uint128>(live - from);
    end = from;
  } else if (live != kUnknown && live < end && live != from_below) {
    const Segment here = segment(live, end, account);
    if (here.units == 0 && here.disk_slots == 0 && anything_kept()) {
      total += static_cast<uint128>(--end - live);  // straight on
    } else {
      if (end - live > 1) total += planner_->advances(here);
      end = live;
    }
  }
  for (; account.depth > 0; pop(account)) {
    const Entry& entry = stack_[static_cast<std::size_t>(account.depth - 1)];
    if (entry.place == Place::kTape && entry.step <= target_) --total;
    const std::int64_t from = restarts_at(entry);
    if (from != kUnknown && end - from > 1) {
      total += planner_->advances(segment(from, end, account));
    }
    end = std::min(end, entry.step);
  }
  std::int64_t anchors = active_;
  while (anchors > 1 && anchors_.step(anchors - 1) >= end) --anchors;
  if (anchors > 0 && !leads && end - anchors_.step(anchors - 1) > 1) {
    total += planner_->advances(gap(anchors_.step(anchors - 1), end));
  }
  total += gaps_between_anchors(leads ? active_ : anchors);
  return total > static_cast<uint128>(kNoLimit) ? kNoLimit : static_cast<std::int64_t>(total);
}

std::int64_t StackSweep::adjoints_remaining() const {
  return steps_ == kUnknown ? kUnknown : (turned_ ? target_ + 1 : steps_);
}

}  // namespace anadrome::schedule

// Sequence, the part that counts what is still to come: exactly, without playing it.
#include <algorithm>

#include "schedule/sequence.h"

namespace anadrome::schedule {

uint128 Sequence::gaps_between_anchors(std::int64_t count) const {
  uint128 total = 0;
  const auto& stretches = anchors_.stretches();
  for (std::size_t i = 0; i < stretches.size() && stretches[i].number < count - 1; ++i) {
    const std::int64_t first = stretches[i].number;
    const std::int64_t end = i + 1 < stretches.size() ? stretches[i + 1].number : anchors_.count();
    const std::int64_t last = std::min(end, count) - 1;
    total += static_cast<uint128>(last - first) * advances_between(stretches[i].spacing);
    if (last == end - 1 && end < count) {
      total += advances_between(anchors_.step(end) - anchors_.step(last));
    }
  }
  return total;
}

uint128 Sequence::forward_advances_remaining() const {
  const std::int64_t s = options_.slots;
  uint128 total = gaps_between_anchors(anchors_.count()) + static_cast<uint128>(steps_ - live_);
  std::int64_t from = anchors_.empty() ? 0 : anchors_.newest_step();
  std::int64_t may_add = options_.most_anchors - std::max<std::int64_t>(anchors_.count(), 1);
  if (phase_ == Phase::kTowardsAnchor) {
    total += advances_between(anchor_due_ - from);
    from = anchor_due_;
    --may_add;
  }
  if (options_.anchored) {
    const std::int64_t over = steps_ - from - tail_;
    const std::int64_t more =
        over > 0 ? std::min(may_add, over / interval_ + (over % interval_ != 0)) : 0;
    total += static_cast<uint128>(more) * advances_between(interval_);
    from += more * interval_;
  }
  total +=
      static_cast<uint128>(tail_advances(steps_ - from, s, options_.record, options_.tape_units));
  // Beyond the last anchor tapes are recorded in passing, before it when the steps are run again.
  if (keeps_tapes()) return total + static_cast<uint128>(from);
  // Each step is recorded once; the last one as the forward sweep passes.
  if (options_.record && steps_ > 0) total += static_cast<uint128>(steps_ - 1);
  return total;
}

// The live state's part, the stack's from its top down, then what lies between anchors.
uint128 Sequence::reverse_advances_with_tapes() const {
  std::int64_t end = target_ + 1;  // steps below this one are still to be reversed
  if (end <= 0) return 0;
  auto total = static_cast<uint128>(end);  // recorded
  std::int64_t kept = kept_count_, used = slots_used_;
  std::int64_t live = live_;
  const bool tape_is_kept = kept > 0 && newest().tape && newest().step == target_;
  if (recorded_ && !tape_is_kept) {
    --total;
    --end;
  }
  if (pending_ == Pending::kRecord) {
    ++total;  // its tape is on the stack, and not recorded yet
    ++live;
  }
  const auto add = [&](std::int64_t from, Place held) {
    Segment segment;
    segment.first = from;
    segment.last = end;
    segment.held = held;
    segment.units = options_.slots - 1 - used;
    if (end - from > 1) total += MixedPlanner(planner_).advances(segment);
    end = from;
  };
  const bool held = pending_ == Pending::kNothing && segment_at_live().held != Place::kNowhere;
  if (live_ != kUnknown && live < end && !held) {
    if (options_.slots - 1 - used > 0) {
      add(live, Place::kNowhere);
    } else {
      total += static_cast<uint128>(--end - live);
    }
  }
  for (; kept > 0; --kept) {
    const Kept& top = kept_[static_cast<std::size_t>(kept - 1)];
    if (top.tape && top.step <= target_) --total;
    if (!top.tape && top.step < end) add(top.step, Place::kRam);
    used -= top.tape ? options_.tape_units : 1;
    end = std::min(end, top.step);
  }
  std::int64_t anchors = anchors_active_;
  while (anchors > 1 && anchors_.step(anchors - 1) > target_) --anchors;
  if (anchors_.step(anchors - 1) < end) add(anchors_.step(anchors - 1), Place::kDisk);
  return total + gaps_between_anchors(anchors);
}

uint128 Sequence::reverse_advances_remaining() const {
  if (keeps_tapes()) return reverse_advances_with_tapes();
  const std::int64_t s = options_.slots;
  std::int64_t last = recorded_ ? target_ - 1 : target_;
  if (last < 0) return 0;
  uint128 total = options_.record ? static_cast<uint128>(last + 1) : 0;
  std::int64_t end = last + 1;  // states below this one are still to be reached
  std::int64_t kept = kept_count_;
  while (kept > 0 && kept_[static_cast<std::size_t>(kept - 1)].step > last) --kept;
  std::int64_t anchors = anchors_active_;
  while (anchors > 1 && anchors_.step(anchors - 1) > last) --anchors;
  const std::int64_t top =
      kept > 0 ? kept_[static_cast<std::size_t>(kept - 1)].step : anchors_.step(anchors - 1);
  if (!recorded_ && live_ != kUnknown && live_ != top && live_ <= last) {
    if (keep_due_ || (live_ < last && kept < s - 1)) {
      total += extra_advances(end - live_, s - 1 - kept);
      end = live_;
    } else {
      total += static_cast<uint128>(last - live_);
      end = last;
    }
  }
  for (; kept > 0; --kept) {
    const std::int64_t step = kept_[static_cast<std::size_t>(kept - 1)].step;
    total += extra_advances(end - step, s - kept);
    end = step;
  }
  total += extra_advances(end - anchors_.step(anchors - 1), s);
  return total + gaps_between_anchors(anchors);
}

std::int64_t Sequence::advances_remaining() const {
  if (steps_ == kUnknown) return kUnknown;
  if (done_) return 0;
  const bool fixed = phase_ == Phase::kReverse || !options_.anchored || interval_ > 0;
  if (!fixed || probing_) return kUnknown;
  const uint128 total =
      phase_ == Phase::kReverse ? reverse_advances_remaining() : forward_advances_remaining();
  return total > static_cast<uint128>(kNoLimit) ? kNoLimit : static_cast<std::int64_t>(total);
}

std::int64_t Sequence::adjoints_remaining() const {
  if (steps_ == kUnknown) return kUnknown;
  return turned_ ? target_ + 1 : steps_;
}

}  // namespace anadrome::schedule

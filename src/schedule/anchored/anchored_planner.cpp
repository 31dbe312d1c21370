// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/anchored/anchored_planner.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "schedule/anchored/interval.h"

namespace anadrome::schedule {

AnchoredPlanner::AnchoredPlanner(const AnchoredOptions& options)
    : options_(options), slots_(std::min(options.slots, kMostSteps)) {
  if (slots_ < 1 || options_.interval < 0 || options_.interval >= kMostSteps) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "anchors need at least one slot, and an interval below 2^62");
  }
  options_.most_slots = std::max(options_.most_slots, slots_);
  if (options_.tape_units > 0) mixed_.emplace(options_.tape_units, false);
  if (options_.interval > 0) use_interval(options_.interval, slots_);
  if (options_.steps == kUnknown) {
    online_.emplace(OnlineOptions{.slots = options_.most_slots, .lowest = 0});
  }
}

// ---- forward ----

Placement AnchoredPlanner::place(const Segment& segment) {
  live_ = segment.first;
  for (;;) {
    switch (phase_) {
      case Phase::kAtAnchor:
        from_ = live_;
        at_anchor(segment.disk_slots > 0);
        break;
      case Phase::kAsked:
        return {Place::kAsk, 0};
      case Phase::kProbe:
        if (live_ < anchor_due_) return {Place::kNowhere, anchor_due_ - live_};
        phase_ = Phase::kAsked;
        break;
      case Phase::kTowardsAnchor:
      case Phase::kPlace:
        return place_on_the_way(segment);
      case Phase::kOnline:
        return online_->place(segment);
      case Phase::kReverse:
        return mixed_ ? mixed_->place(segment) : Placement{Place::kRevolve, 0};
    }
  }
}

void AnchoredPlanner::at_anchor(bool may_add) {
  const bool open_end = options_.steps == kUnknown;
  if (open_end && !may_add) {
    phase_ = Phase::kOnline;
    mixed_.reset();  // its tapes are on a stack
    options_.tape_units = 0;
    slots_ = std::max(slots_, all_slots_);
    online_->begin(live_, slots_);
    return;
  }
  // More steps than slots are never reversed without running some again.
  const std::int64_t rest = options_.steps - live_;
  const bool again_at_once = !open_end && !options_.all_anchors && rest - 1 <= slots_ &&
                             tail_advances(rest, slots_, options_.record, options_.tape_units) == 0;
  if (!may_add || again_at_once) {
    phase_ = Phase::kReverse;
  } else if (options_.interval == 0) {
    phase_ = Phase::kAsked;
  } else {
    enter_interval();
  }
}

void AnchoredPlanner::enter_interval() {
  anchor_due_ = std::max(live_, from_ + interval_);
  if (options_.steps == kUnknown) {
    phase_ = live_ == from_ ? Phase::kPlace : Phase::kTowardsAnchor;
  } else if (options_.steps - from_ <= tail_ || live_ >= options_.steps) {
    phase_ = Phase::kReverse;
  } else {
    phase_ = Phase::kTowardsAnchor;
  }
}

// Unknown n: the checkpoints of an interval are placed as if TURN came at its end. If TURN comes
// earlier, they are nearly where a reversal of that length wants them.
Placement AnchoredPlanner::place_on_the_way(const Segment& segment) {
  if (std::exchange(keep_due_, false)) return {Place::kRam, 0};
  if (live_ >= anchor_due_) {
    const bool at_once = segment.units == slots_ - 1;  // states in RAM are dropped before
    if (at_once) phase_ = Phase::kAtAnchor;
    return {Place::kDisk, 0};
  }
  if (phase_ == Phase::kTowardsAnchor) return {Place::kNowhere, anchor_due_ - live_};
  const std::int64_t left = anchor_due_ - live_ + 1;
  keep_due_ = segment.units > 0 && left > 2;
  return {Place::kNowhere, splitter_.advance(left, segment.units + 1)};
}

void AnchoredPlanner::end_is(std::int64_t steps) {
  options_.steps = steps;
  phase_ = Phase::kReverse;
}

// ---- answers ----

void AnchoredPlanner::require_asked(bool fits, const char* what) const {
  if (phase_ == Phase::kAsked && fits) return;
  throw Error(ANADROME_ERR_INTERNAL, std::string(what) + " was given that was not asked for");
}

void AnchoredPlanner::set_interval(std::int64_t interval, std::int64_t slots) {
  const bool fits =
      1 <= interval && interval < kMostSteps && 1 <= slots && slots <= options_.most_slots;
  require_asked(fits, "an interval");
  use_interval(interval, slots);
  enter_interval();
}

void AnchoredPlanner::use_interval(std::int64_t interval, std::int64_t slots) {
  if (interval == interval_ && slots == slots_) return;
  interval_ = interval;
  slots_ = slots;
  tail_ = options_.all_anchors
              ? interval
              : longest_tail(interval, slots, options_.record, options_.tape_units);
}

void AnchoredPlanner::probe(std::int64_t steps) {
  require_asked(steps >= 1, "a probe");
  if (options_.steps != kUnknown && steps >= options_.steps - live_) {
    phase_ = Phase::kReverse;
    return;
  }
  anchor_due_ = live_ + steps;
  phase_ = Phase::kProbe;
}

void AnchoredPlanner::end_in_ram(std::int64_t slots) {
  const bool fits = options_.steps != kUnknown && 1 <= slots && slots <= options_.most_slots;
  require_asked(fits, "an end");
  slots_ = slots;
  phase_ = Phase::kReverse;
}

// ---- how much is left ----

uint128 AnchoredPlanner::advances(const Segment& segment) {
  if (mixed_) return mixed_->advances(segment);
  const std::int64_t own = segment.held == Place::kNowhere ? 0 : 1;
  return extra_advances(segment.last - segment.first, segment.units + own);
}

// Intervals as they are put now, then the tail. With tapes a tail's are recorded in passing, those
// of an interval when its steps are run again.
uint128 AnchoredPlanner::advances_ahead(const Segment& segment) {
  const auto between = [this](std::int64_t steps) {
    return advances_from_anchor(steps, std::max(slots_, all_slots_), options_.tape_units);
  };
  std::int64_t from = segment.first, may_add = segment.disk_slots;
  uint128 total = 0;
  if (phase_ == Phase::kTowardsAnchor) {
    total += between(anchor_due_ - from);
    from = anchor_due_;
    --may_add;
  }
  const std::int64_t over = phase_ == Phase::kReverse ? 0 : options_.steps - from - tail_;
  const std::int64_t more =
      over > 0 ? std::min(may_add, over / interval_ + (over % interval_ != 0)) : 0;
  total += static_cast<uint128>(more) * between(interval_);
  from += more * interval_;
  return total + static_cast<uint128>(from - segment.first) + between(segment.last - from);
}

}  // namespace anadrome::schedule

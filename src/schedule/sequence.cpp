#include "schedule/sequence.h"

#include <algorithm>

#include "base/error.h"

namespace anadrome::schedule {

Sequence::Sequence(const SequenceOptions& options) : options_(options), steps_(options.steps) {
  if ((steps_ != kUnknown && steps_ < 0) || steps_ >= kMostSteps || options_.slots < 1 ||
      options_.interval < 0 || options_.interval >= kMostSteps || options_.most_anchors < 1) {
    throw Error(
        ANADROME_ERR_ARGUMENT,
        "a schedule needs 0 <= steps < 2^62, at least one slot, and an interval below 2^62");
  }
  options_.slots = std::min(options_.slots, kMostSteps);
  options_.most_slots = std::max(options_.most_slots, options_.slots);
  if (options_.keep_every) options_.tape_units = 0;
  if (keeps_tapes()) planner_ = MixedPlanner(options_.tape_units, false);
  if (options_.anchored && options_.interval > 0) use_interval(options_.interval, options_.slots);
  reserve_kept();
  // Between anchors the same slots serve one interval after the other.
  retain_ = steps_ == kUnknown ? options_.keep_every && !options_.anchored
                               : options_.slots >= steps_ &&
                                     !(options_.anchored && options_.all_anchors) && !keeps_tapes();
}

// The stack's memory now, where all ranks can still say so, rather than in the middle of a sweep.
void Sequence::reserve_kept() {
  constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 22;
  const std::int64_t most = std::min(options_.most_slots - 1, kMostAtOnce);
  kept_.reserve(static_cast<std::size_t>(steps_ == kUnknown ? most : std::min(most, steps_)));
  if (steps_ == kUnknown) online_.reserve(most);
  make_room_for_anchors();
}

Action Sequence::next() {
  advance_first_ = kUnknown;
  return phase_ == Phase::kReverse ? reverse_action() : forward_action();
}

Action Sequence::advance(std::int64_t to, bool record) {
  const bool again = swept_ || live_ < run_before_;
  if (again && !swept_) to = std::min(to, run_before_);
  const Action action{Kind::kAdvance, record, again, live_, to, -1};
  advance_first_ = live_;
  live_ = to;
  return action;
}

Action Sequence::add_anchor() {
  anchors_.append(live_);
  anchors_active_ = anchors_.count();
  phase_ = Phase::kAtAnchor;
  return {Kind::kAnchor, false, false, live_, live_, anchors_.count() - 1};
}

Action Sequence::push_kept() {
  keep_due_ = false;
  if (kept_count_ == static_cast<std::int64_t>(kept_.size())) kept_.push_back({0, kept_count_});
  Kept& kept = kept_[static_cast<std::size_t>(kept_count_++)];
  kept.step = live_;
  if (keeps_tapes()) {
    kept.slot = slots_used_++;
    kept.tape = false;
  }
  return {Kind::kKeep, false, false, live_, live_, kept.slot};
}

Action Sequence::drop_newest_kept() {
  const Kept& kept = kept_[static_cast<std::size_t>(--kept_count_)];
  if (keeps_tapes()) slots_used_ -= kept.tape ? options_.tape_units : 1;
  const Kind kind = kept.tape ? Kind::kDropTape : Kind::kDrop;
  return {kind, false, false, kept.step, kept.step, kept.slot};
}

std::int64_t Sequence::top_step() const {
  return kept_count_ > 0 ? kept_[static_cast<std::size_t>(kept_count_ - 1)].step
                         : anchors_.step(anchors_active_ - 1);
}

// ---- forward ----

Action Sequence::forward_action() {
  for (;;) {
    switch (phase_) {
      case Phase::kStart:
        return add_anchor();
      case Phase::kAtAnchor:
        decide_or_enter();
        break;
      case Phase::kAsked:
        return {Kind::kDecide, false, false, live_, live_, -1};
      case Phase::kTowardsAnchor:
        return live_ < anchor_due_ ? advance(anchor_due_) : add_anchor();
      case Phase::kPlace:
        if (probing_ && live_ == anchor_due_) {
          probing_ = false;
          phase_ = Phase::kAsked;
          break;
        }
        return place_action();
      case Phase::kOnline:
        return online_action();
      case Phase::kReverse:
        return reverse_action();
    }
  }
}

void Sequence::decide_or_enter() {
  const bool open_end = steps_ == kUnknown;
  const bool last_anchor = !options_.anchored || anchors_.count() >= options_.most_anchors;
  if (open_end && last_anchor) {
    phase_ = Phase::kOnline;
    options_.tape_units = 0;  // its slots are not a stack
    online_.begin(live_, options_.slots);
  } else if (last_anchor || (!open_end && !options_.all_anchors &&
                             tail_advances(steps_ - live_, options_.slots, options_.record,
                                           options_.tape_units) == 0)) {
    turn_next();
  } else if (options_.interval == 0) {
    phase_ = Phase::kAsked;
  } else {
    enter_interval();
  }
}

void Sequence::enter_interval() {
  const std::int64_t from = anchors_.newest_step();
  anchor_due_ = std::max(live_, from + interval_);
  if (steps_ == kUnknown) {
    phase_ = live_ == from ? Phase::kPlace : Phase::kTowardsAnchor;
    return;
  }
  if (steps_ - from <= tail_ || live_ >= steps_) {
    turn_next();
  } else {
    phase_ = Phase::kTowardsAnchor;
  }
}

void Sequence::set_interval(std::int64_t interval, std::int64_t slots) {
  if (phase_ != Phase::kAsked || interval < 1 || interval >= kMostSteps || slots < 1 ||
      slots > options_.most_slots || kept_count_ > 0) {
    throw Error(ANADROME_ERR_INTERNAL, "an interval was given that was not asked for");
  }
  use_interval(interval, slots);
  enter_interval();
}

void Sequence::use_interval(std::int64_t interval, std::int64_t slots) {
  if (interval == interval_ && slots == options_.slots) return;
  interval_ = interval;
  options_.slots = slots;
  tail_ = options_.all_anchors
              ? interval
              : longest_tail(interval, slots, options_.record, options_.tape_units);
}

void Sequence::probe(std::int64_t steps) {
  if (phase_ != Phase::kAsked || steps < 1) {
    throw Error(ANADROME_ERR_INTERNAL, "a probe was given that was not asked for");
  }
  if (steps_ != kUnknown && steps >= steps_ - live_) {
    turn_next();
    return;
  }
  anchor_due_ = live_ + steps;
  probing_ = true;
  phase_ = Phase::kPlace;
}

void Sequence::end_in_ram(std::int64_t slots) {
  if (phase_ != Phase::kAsked || steps_ == kUnknown || slots < 1 || slots > options_.most_slots) {
    throw Error(ANADROME_ERR_INTERNAL, "an end was given that was not asked for");
  }
  options_.slots = slots;
  turn_next();
}

// Unknown n: the checkpoints of an interval are placed as if TURN came at its end. If TURN comes
// earlier, they are nearly where a reversal of that length wants them.
Action Sequence::place_action() {
  if (keep_due_) return push_kept();
  if (live_ == anchor_due_) return kept_count_ > 0 ? drop_newest_kept() : add_anchor();
  const std::int64_t left = anchor_due_ - live_ + 1;
  const bool direct = probing_ || free_slots() == 0 || left == 2;
  const std::int64_t to = direct ? anchor_due_ : live_ + splitter_.split(left, free_slots() + 1);
  keep_due_ = to != anchor_due_;
  return advance(to);
}

Action Sequence::online_action() {
  if (replaced_ != kUnknown) {
    Kept& kept = kept_[static_cast<std::size_t>(replaced_)];
    kept.step = live_;
    replaced_ = kUnknown;
    keep_due_ = false;
    return {Kind::kKeep, false, false, live_, live_, kept.slot};
  }
  if (keep_due_) return keep_online();
  if (options_.slots == 1 && !options_.keep_every) {
    constexpr std::int64_t kFar = std::int64_t{1} << 30;  // nothing to keep on the way
    return advance(live_ + kFar);
  }
  keep_due_ = true;
  return advance(live_ + 1);
}

Action Sequence::keep_online() {
  if (free_slots() > 0) {
    online_.add(live_);
    return push_kept();
  }
  if (options_.keep_every) {
    throw Error(ANADROME_ERR_MEMORY, "store_all: all " + std::to_string(options_.slots) +
                                         " slots hold states at step " + std::to_string(live_) +
                                         "; raise memory, or take schedule=async or revolve");
  }
  const std::int64_t place = online_.replace(live_);
  if (place < 0) return advance(live_ + 1);
  replaced_ = place;
  const Kept& kept = kept_[static_cast<std::size_t>(place)];
  return {Kind::kDrop, false, false, kept.step, kept.step, kept.slot};
}

bool Sequence::may_finish(std::int64_t steps) const {
  return options_.steps == kUnknown && steps_ == kUnknown && advance_first_ != kUnknown &&
         advance_first_ <= steps && steps <= live_;
}

void Sequence::finish_forward(std::int64_t steps) {
  if (!may_finish(steps)) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "finish_forward(" + std::to_string(steps) + ") is outside the advance under way");
  }
  steps_ = live_ = steps;
  keep_due_ = probing_ = false;
  std::sort(kept_.begin(), kept_.begin() + kept_count_,
            [](const Kept& a, const Kept& b) { return a.step < b.step; });
  turn_next();
}

// ---- reverse, and the forward sweep from where no anchor follows ----

void Sequence::turn_next() {
  phase_ = Phase::kReverse;
  target_ = options_.record ? steps_ - 1 : steps_;
}

Action Sequence::turn() {
  turned_ = swept_ = true;
  retained_ = kept_count_;
  live_ = kUnknown;
  if (!options_.record) --target_;
  return {Kind::kTurn, false, false, steps_, steps_, -1};
}

Action Sequence::adjoint() {
  recorded_ = false;
  live_ = kUnknown;
  const std::int64_t step = target_--;
  return {Kind::kAdjoint, false, false, step, step + 1, -1};
}

Action Sequence::reverse_action() {
  for (;;) {
    if (keep_due_) return push_kept();
    if (pending_ != Pending::kNothing) return finish_tape();
    if (done_) return {Kind::kDone, false, false, 0, 0, -1};
    if (!turned_ && live_ == steps_) return turn();
    if (recorded_) return adjoint();
    if (turned_ && target_ < 0) {
      if (kept_count_ > 0 && newest().tape) return drop_newest_kept();  // of step 0
      done_ = options_.record || live_ == 0;
      if (done_) continue;
      live_ = 0;
      return {Kind::kRestoreAnchor, false, false, 0, 0, 0};
    }
    if (kept_count_ > 0 && top_step() > target_) {
      if (!retain_) return drop_newest_kept();
      --kept_count_;
      continue;
    }
    if (anchors_active_ > 1 && top_step() > target_) {
      const std::int64_t number = --anchors_active_;
      const std::int64_t step = anchors_.step(number);
      return {Kind::kDropAnchor, false, false, step, step, number};
    }
    if (kept_count_ > 0 && newest().tape && top_step() == target_) {
      recorded_ = true;
      return {Kind::kRestoreTape, false, false, newest().step, newest().step, newest().slot};
    }
    if (live_ == kUnknown) {
      live_ = top_step();
      if (kept_count_ == 0) {
        return {Kind::kRestoreAnchor, false, false, live_, live_, anchors_active_ - 1};
      }
      const Kept& kept = kept_[static_cast<std::size_t>(kept_count_ - 1)];
      return {Kind::kRestore, false, false, live_, live_, kept.slot};
    }
    if (live_ < target_ && keeps_tapes()) return place_with_tapes();
    if (live_ < target_) {
      if (free_slots() > 0 && live_ != top_step()) return push_kept();
      const std::int64_t left = target_ - live_ + 1;
      const bool direct = free_slots() == 0 || left == 2;
      const std::int64_t to = direct ? target_ : live_ + splitter_.split(left, free_slots() + 1);
      keep_due_ = to != target_;
      return advance(to);
    }
    if (!options_.record) return adjoint();
    recorded_ = true;
    return advance(target_ + 1, true);
  }
}

// ---- tapes ----

Segment Sequence::segment_at_live() const {
  Segment segment;
  segment.first = live_;
  segment.last = target_ + 1;
  segment.units = free_slots();
  if (live_ == top_step() && (kept_count_ == 0 || !newest().tape)) {
    segment.held = kept_count_ == 0 ? Place::kDisk : Place::kRam;
  }
  return segment;
}

// As in Nested, between anchors.
Action Sequence::place_with_tapes() {
  const Segment here = segment_at_live();
  // Where nothing can be kept, straight on: what is reversed next starts from below.
  if (here.held == Place::kNowhere && here.units == 0) return advance(target_);
  const Placement placement = planner_.place(here);
  if (placement.place == Place::kRam) return push_kept();
  if (placement.place == Place::kNowhere) return advance(live_ + placement.advance);
  const bool give_up = here.held == Place::kRam;
  Action drop;
  if (give_up) drop = drop_newest_kept();
  if (kept_count_ == static_cast<std::int64_t>(kept_.size())) kept_.push_back({0, 0});
  kept_[static_cast<std::size_t>(kept_count_++)] = {live_, slots_used_, true};
  slots_used_ += options_.tape_units;
  pending_ = Pending::kRecord;
  return give_up ? drop : finish_tape();
}

Action Sequence::finish_tape() {
  if (pending_ == Pending::kRecord) {
    pending_ = Pending::kKeepTape;
    return advance(live_ + 1, true);
  }
  pending_ = Pending::kNothing;
  const Kept& kept = newest();
  return {Kind::kKeepTape, false, false, kept.step, kept.step, kept.slot};
}

void Sequence::resume_forward(const AnchorList& anchors, std::int64_t run_before) {
  anchors_ = anchors;
  make_room_for_anchors();
  anchors_active_ = anchors_.count();
  live_ = anchors_.newest_step();
  run_before_ = run_before;
  retain_ = false;
  phase_ = Phase::kAtAnchor;
}

void Sequence::resume_reverse(const AnchorList& anchors, std::int64_t steps,
                              std::int64_t position) {
  anchors_ = anchors;
  anchors_active_ = anchors_.count();
  steps_ = steps;
  live_ = kUnknown;
  retain_ = false;
  turned_ = swept_ = true;
  phase_ = Phase::kReverse;
  target_ = position - 1;
}

void Sequence::add_no_more_anchors() {
  const bool on_the_way = phase_ == Phase::kTowardsAnchor || phase_ == Phase::kPlace;
  options_.most_anchors = std::max<std::int64_t>(anchors_.count(), 1) + (on_the_way ? 1 : 0);
}

bool Sequence::lose_anchor(std::int64_t number) {
  if (number < 1) return false;
  anchors_active_ = number;
  live_ = kUnknown;
  return true;
}

void Sequence::rewind(std::int64_t anchors) {
  if (!done_ || anchors < 1) {
    throw Error(ANADROME_ERR_ORDER, "rewind: the reverse sweep is not done");
  }
  anchors_.truncate(anchors);
  anchors_active_ = anchors_.count();
  kept_count_ = retain_ ? retained_ : 0;
  slots_used_ = 0;
  turned_ = done_ = recorded_ = false;
  live_ = kUnknown;
  turn_next();
}

}  // namespace anadrome::schedule

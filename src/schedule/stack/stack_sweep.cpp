// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/stack_sweep.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/index.h"

namespace anadrome::schedule {
namespace {

std::string text(const Segment& segment) {
  return "steps " + std::to_string(segment.first) + " to " + std::to_string(segment.last) +
         " with " + std::to_string(segment.units) + " units and " +
         std::to_string(segment.disk_slots) + " disk slots";
}

[[noreturn]] void broken(const std::string& rule) { throw Error(ANADROME_ERR_INTERNAL, rule); }

}  // namespace

StackSweep::StackSweep(const StackOptions& options, std::unique_ptr<Planner> planner)
    : options_(options),
      planner_(std::move(planner)),
      steps_(options.steps),
      stack_(options.tape_restarts) {
  const bool tapes_fit_problem = options.record || options.tape_units == 0;
  const bool has_x_0 = (options.x_0 != Place::kRam || options.units > 0) &&
                       (options.x_0 != Place::kDisk || options.disk_slots > 0);
  if ((steps_ != kUnknown && steps_ < 0) || steps_ >= kMostSteps || options.units < 0 ||
      options.disk_slots < 0 || options.tape_units < 0 || !tapes_fit_problem || !has_x_0) {
    throw Error(ANADROME_ERR_ARGUMENT, "a schedule needs 0 <= steps < 2^62 and slots >= 0");
  }
  options_.units = std::min(options_.units, kMostSteps);
  leads_ = planner_->leads();
  turned_ = !options_.turn;
  if (options_.x_0 != Place::kNowhere) pending_ = Pending::kFirst;
  const bool turn_is_a_step = options_.turn && !options_.record;
  target_ = steps_ == kUnknown ? kMostSteps : (turn_is_a_step ? steps_ : steps_ - 1);
  // The stack's memory now, where all ranks can still say so, rather than in the middle of a sweep.
  constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 22;
  const std::int64_t disk = options_.anchors_stay ? 0 : std::min(options.disk_slots, kMostAtOnce);
  const std::int64_t most = std::min(std::min(options_.units, kMostAtOnce) + 1 + disk, kMostAtOnce);
  stack_.reserve(steps_ == kUnknown ? most : std::min(most, steps_ + 2));
  if (options_.anchors_stay) make_room_for_anchors();
}

Course StackSweep::course() const {
  const bool may_end =
      options_.steps == kUnknown && steps_ == kUnknown && advance_first_ != kUnknown;
  return {.steps = steps_,
          .interval = planner_->interval(),
          .rests = planner_->rests(),
          .slots = units() + (options_.anchors_stay ? 1 : 0),
          .prefetch_depth = planner_->prefetch_depth(),
          .anchor_ahead = leads_ ? planner_->ahead() : kUnknown,
          .ends_in_ram = options_.anchors_stay && !leading(),
          .anchors_left = anchors_left(),
          .adjoints_left = steps_ == kUnknown ? kUnknown : (turned_ ? target_ + 1 : steps_),
          .may_rewind = can_rewind(),
          .ends = may_end ? Ends{advance_first_, live_} : Ends{}};
}

// ---- what is kept ----

Segment StackSweep::segment(std::int64_t first, std::int64_t last,
                            const KeptStack::Part& kept) const {
  Segment segment = {first, last, stack_.held(first, kept), units(last) - kept.units};
  if (!options_.anchors_stay) {
    segment.disk_slots = options_.disk_slots - kept.disk_slots;
  } else if (leading()) {
    segment.disk_slots = anchors_left();
  }
  return segment;
}

// Functions of their own, so that what calls them stays short: Revolve needs them all the time.
Action StackSweep::drop_newest() { return Drop{stack_.pop()}; }
Action StackSweep::push_unit() {
  const std::size_t index = stack_.all().depth;
  if (index < left_ && pending_ != Pending::kPush) {
    pending_ = Pending::kPush;
    return Drop{stack_.kept(index)};
  }
  pending_ = Pending::kNothing;
  return Keep{stack_.push(live_, Place::kRam, 1)};
}

Action StackSweep::push(Place place) {
  if (place == Place::kRam && stack_.all().depth < left_) return push_unit();
  if (place == Place::kDisk && options_.anchors_stay) return push_anchor();
  const std::int64_t taken = place == Place::kDisk   ? 0
                             : place == Place::kTape ? options_.tape_units
                                                     : planner_->state_units(live_);
  const Kept kept = stack_.push(live_, place, taken);
  if (stack_.all().units > units(target_ + 1) || stack_.all().disk_slots > options_.disk_slots) {
    broken("the planner keeps more than there is room for, at step " + std::to_string(live_));
  }
  return Keep{kept};
}

// What was kept in RAM on the way to it is of no use any more.
Action StackSweep::push_anchor() {
  if (stack_.has_entries()) return drop_newest();
  if (anchors().count() >= options_.disk_slots) broken("the planner puts too many anchors");
  return Keep{stack_.add_anchor(live_)};
}

Action StackSweep::restore() {
  const bool tape = stack_.has_entries() && stack_.top().place == Place::kTape;
  live_ = stack_.restarts_at(stack_.all());
  if (live_ == kUnknown && !(tape && stack_.top_step() == target_)) {
    broken("nothing is kept to start from towards step " + std::to_string(target_));
  }
  if (tape) tape_ = stack_.top_step();
  return Restore{stack_.source()};
}

// The end of the sweep shows which states stay, and puts them in order.
Action StackSweep::replace(std::int64_t index) {
  replaced_ = size(index);
  if (index < 0 || replaced_ >= stack_.all().depth) broken("the planner replaces what is not kept");
  pending_ = Pending::kReplace;
  return Drop{stack_.kept(replaced_)};
}

Action StackSweep::finish_pending() {
  if (pending_ == Pending::kPush) return push_unit();
  switch (std::exchange(pending_, Pending::kNothing)) {
    case Pending::kFirst:
      return push(options_.x_0);
    case Pending::kRecord:
      pending_ = Pending::kKeepTape;
      return advance(live_ + 1, true);
    case Pending::kKeepTape:
      return Keep{stack_.source()};
    case Pending::kReplace:
      return Keep{stack_.replace(replaced_, live_)};
    case Pending::kShrink:
      if (stack_.all().depth == shrunk_.depth) return next();
      if (stack_.all().depth > shrunk_.depth + 1) pending_ = Pending::kShrink;
      return drop_newest();
    case Pending::kPush:
    case Pending::kNothing:
      break;
  }
  return Done{};
}

// ---- the sweep ----

Action StackSweep::advance(std::int64_t to, bool record) {
  const bool again = live_ < run_before_;
  if (again) {
    to = std::min(to, run_before_);
  } else {
    run_before_ = to;
  }
  advance_first_ = live_;
  tape_ = record ? to - 1 : kUnknown;
  return Advance{.first = std::exchange(live_, to), .last = to, .record = record, .again = again};
}

Action StackSweep::next() {
  advance_first_ = kUnknown;
  for (;;) {
    if (pending_ != Pending::kNothing) return finish_pending();
    if (leads_) return ask_planner();
    if (!turned_) {
      if (live_ == steps_) return turn();
    } else if (target_ < 0) {
      return end();
    } else if ((options_.record ? tape_ : live_) == target_) {
      if (serves_later()) return Keep{stack_.leave(left_++, live_)};
      live_ = tape_ = kUnknown;
      return Adjoint{.step = target_--};
    }
    if (stack_.has_entries()) {
      const KeptStack::Entry& top = stack_.top();
      if (top.step > target_ && may_drop(top)) {
        const bool leaves = may_leave();
        if (leaves) left_ = std::max(left_, stack_.all().depth);
        if (!leaves && !options_.retain) return drop_newest();
        stack_.pop();
        continue;
      }
      if (top.place == Place::kTape && top.step == target_) return restore();
    } else if (stack_.active() > 1 && stack_.base() > target_) {
      return drop_anchor();
    }
    if (live_ == kUnknown) return restore();
    if (live_ == target_ && !keeps_all_tapes()) return advance(live_ + 1, true);
    return live_ >= revolve_from_ ? by_revolve() : ask_planner();
  }
}

// Before TURN only what was kept beyond the end; x_0 stays.
bool StackSweep::may_drop(const KeptStack::Entry& top) const {
  return turned_ || (!keeps_all_tapes() && (top.step > 0 || top.place == Place::kTape));
}

// In RAM, until its slot is needed.
bool StackSweep::may_leave() const {
  const bool in_ram_only = options_.anchors_stay || options_.disk_slots == 0;
  return options_.leaves_states && turned_ && options_.tape_units == 0 && in_ram_only;
}

// A place that nobody has needed yet: the state is there for a pass.
bool StackSweep::serves_later() {
  if (!may_leave() || options_.record || stack_.top_step() == target_) return false;
  left_ = std::max(left_, stack_.all().depth);
  const bool is_there = left_ > 0 && stack_.kept(left_ - 1).step == target_;
  const std::int64_t most = std::min(units(), units(target_ + 1));
  return !is_there && static_cast<std::int64_t>(left_) < most;
}

Action StackSweep::drop_anchor() {
  const Kept dropped = stack_.source();
  stack_.use_anchors(stack_.active() - 1);
  return Drop{dropped};
}

// All adjoints are done; without tapes x_0 is live at the end.
Action StackSweep::end() {
  if (stack_.top_is(Place::kTape, 0) && !options_.retain) return drop_newest();
  done_ = !options_.turn || options_.record || live_ == 0;
  if (done_) return Done{};
  while (stack_.all().depth > 1 && stack_.top_step() > 0) stack_.pop();
  if (options_.anchors_stay) stack_.use_anchors(1);
  return restore();
}

Action StackSweep::turn() {
  if (keeps_all_tapes() && !stack_.top_is(Place::kRam, live_)) return push(Place::kRam);
  // DONE needs x_0, also where there is no step.
  const bool needs_x_0 = !options_.record && stack_.empty();
  if (needs_x_0) return push(options_.units > 0 ? Place::kRam : Place::kDisk);
  turned_ = true;
  live_ = kUnknown;
  if (!options_.record) --target_;
  return Turn{.step = steps_};
}

// Revolve's rule: keep where the advance ended, if there is room, and split what is left. States
// that were kept in all of the memory, since the disk was full, may be more than there is room for
// below.
Action StackSweep::by_revolve() {
  const std::int64_t free = std::max<std::int64_t>(units(target_ + 1) - stack_.all().units, 0);
  if (live_ != stack_.top_step()) return free > 0 ? push_unit() : advance(target_, false);
  return advance(live_ + splitter_.advance(target_ - live_ + 1, free + 1), false);
}

Action StackSweep::ask_planner() {
  if (leads_ && !leading()) {
    stop_leading();
    return next();
  }
  const Segment here = segment(live_, target_ + 1, stack_.all());
  const bool no_room = here.units == 0 && here.disk_slots == 0 && here.held == Place::kNowhere;
  if (no_room && !leads_ && !stack_.empty() && !keeps_all_tapes()) {
    if (stack_.restarts_at(stack_.all()) == kUnknown) throw_full_of_tapes(here.first);
    return advance(target_, false);  // what is reversed next starts from below
  }
  if (!leads_ && starts_from_kept() && live_ < target_ && on_the_way(here.last, stack_.all())) {
    return advance(next_from_kept(here.last, stack_.all()), false);
  }
  const Placement placement =
      live_ == target_ && !leads_ ? Placement{Place::kTape, 0} : planner_->place(here);
  if (leads_ && !leading()) return ask_planner();
  switch (placement.place) {
    case Place::kTape:
      return keep_tape(here);
    case Place::kRam:
    case Place::kDisk:
      if (here.held == placement.place) broken("the planner keeps a state twice: " + text(here));
      return push(placement.place);
    case Place::kReplace:
      return replace(placement.advance);
    case Place::kAsk:
      return Decide{live_};
    case Place::kRevolve:
      revolve_from_ = live_;
      return by_revolve();
    case Place::kNowhere:
      break;
  }
  const bool comes_back = here.held != Place::kNowhere || (leads_ && !stack_.empty());
  if (!comes_back || placement.advance < 1 || placement.advance > target_ - live_) {
    broken("the planner does not say how to come back: " + text(here));
  }
  return advance(live_ + placement.advance, false);
}

void StackSweep::stop_leading() {
  options_.units = units();
  leads_ = false;
}

void StackSweep::throw_full_of_tapes(std::int64_t steps) {
  throw Error(ANADROME_ERR_MEMORY,
              "store_all: the tapes of " + std::to_string(steps) +
                  " steps fill the memory; raise memory, or take schedule=async or revolve");
}

// The room that the state itself took comes first.
Action StackSweep::keep_tape(const Segment& here) {
  if (options_.tape_units == 0) broken("the planner keeps tapes that are not recorded");
  if (options_.retain && here.units < options_.tape_units + 1) {  // x_n comes last
    throw_full_of_tapes(here.first);
  }
  const bool give_up = here.held == Place::kRam && !options_.retain;
  const Action drop = give_up ? drop_newest() : Action{};
  push(Place::kTape);
  pending_ = Pending::kRecord;
  return give_up ? drop : finish_pending();
}

Next StackSweep::decide(const Measured& measured) {
  return planner_->decide(segment(live_, target_ + 1, stack_.all()), anchors().count(), measured);
}

// ---- the end, losses, and another start ----

void StackSweep::finish_forward(std::int64_t steps) {
  if (!course().ends.has(steps)) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "finish_forward(" + std::to_string(steps) + ") is outside the advance under way");
  }
  if (steps == advance_first_) {  // the step that was to be recorded did not come
    if (pending_ == Pending::kKeepTape) stack_.pop();
    pending_ = Pending::kNothing;
    tape_ = kUnknown;
  }
  if (leads_) stop_leading();
  planner_->end_is(steps);
  stack_.sort();
  steps_ = live_ = run_before_ = steps;
  target_ = options_.record ? steps - 1 : steps;
}

// Nothing is kept above an anchor when its interval begins, and nothing is left when it ends.
bool StackSweep::mark() {
  const bool begins = options_.anchors_stay && turned_ && !stack_.has_entries() &&
                      pending_ == Pending::kNothing && live_ == stack_.base();
  if (begins) mark_ = {stack_.active(), live_, target_, tape_, revolve_from_};
  return begins;
}

void StackSweep::go_back() {
  stack_.use_anchors(mark_.anchors);
  live_ = mark_.live;
  target_ = mark_.target;
  tape_ = mark_.tape;
  revolve_from_ = mark_.revolve_from;
  done_ = false;
}

bool StackSweep::lose(std::int64_t number) {
  live_ = kUnknown;
  if (!options_.anchors_stay || number < 1) return false;
  stack_.use_anchors(number);
  return true;
}

bool StackSweep::can_rewind() const {
  if (!done_) return false;
  if (options_.retain || options_.anchors_stay) return true;
  return stack_.has_entries() && stack_.kept(0).what == What::kState && stack_.kept(0).step == 0;
}

void StackSweep::rewind(std::int64_t restorable) {
  if (!can_rewind() || (options_.anchors_stay && restorable < 1)) {
    throw Error(ANADROME_ERR_ORDER, "rewind: the reverse sweep is not done, or x_0 not kept");
  }
  done_ = turned_ = false;
  live_ = tape_ = kUnknown;
  revolve_from_ = kMostSteps;
  target_ = options_.record ? steps_ - 1 : steps_;
  if (options_.anchors_stay) stack_.truncate_anchors(restorable);
  if (options_.retain) return stack_.put_back();
  if (left_ > stack_.all().depth) {
    shrunk_ = stack_.all();
    stack_.put_back(std::exchange(left_, 0));
    pending_ = Pending::kShrink;
  }
}

std::optional<Remains> StackSweep::remains() {
  if (!can_rewind() || planner_->state_units(0) != 1) return {};
  Remains remains;
  remains.course = course();
  remains.record = options_.record;
  remains.units = options_.units;
  remains.anchors = anchors();
  if (options_.retain) stack_.put_back();
  std::int64_t used = 0;  // more where the disk was full, and its part of the memory free
  for (std::size_t i = 0; i < std::max(stack_.all().depth, left_); ++i) {
    const Kept kept = stack_.kept(i);
    remains.in_ram.push_back(kept);
    used += kept.what == What::kTape ? options_.tape_units : 1;
  }
  remains.units = std::max(remains.units, used);
  return remains;
}

void StackSweep::resume(const Middle& middle) {
  pending_ = Pending::kNothing;
  options_.retain = false;
  stack_.set_anchors(middle.anchors);
  planner_->found(middle.anchors.count());
  make_room_for_anchors();
  live_ = stack_.base();
  run_before_ = middle.run_before;
  if (middle.direction == Direction::kForward) return;
  stop_leading();
  steps_ = middle.run_before;
  planner_->end_is(steps_);
  live_ = kUnknown;
  turned_ = true;
  target_ = middle.position - 1;
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/join/branch_sweep.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/index.h"
#include "planners/join/join_planner.h"

namespace anadrome::schedule {
namespace {

JoinProblem checked_problem(const BranchOptions& options) {
  JoinProblem problem;
  problem.steps = options.steps;
  problem.slots = options.slots;
  problem.charged_inputs = options.charged_inputs;
  problem.ends_apart = options.reducible;  // no two are there at a time
  problem.live_apart = true;
  check(problem);
  problem.slots = std::min(problem.slots, BranchSweep::most_slots(options));
  return problem;
}

// To make an end once more is one step more to be reversed.
JoinPlan plan_reducible(JoinProblem problem) {
  const std::int64_t branches = problem.branches();
  for (std::int64_t& steps : problem.steps) ++steps;
  JoinPlan plan = plan_reducible_join(problem);
  plan.advances -= wide(branches);
  return plan;
}

}  // namespace

JoinPlan BranchSweep::plan(const BranchOptions& options) {
  const JoinProblem problem = checked_problem(options);
  return options.reducible ? plan_reducible(problem)
                           : plan_join_within(problem, options.plan_bytes);
}

BranchSweep::BranchSweep(const BranchOptions& options, const JoinPlan& plan)
    : problem_(checked_problem(options)),
      reducible_(options.reducible),
      record_(options.record),
      segments_(plan.segments) {
  adjoints_ = problem_.sum();
  advances_ = plan.advances + (record_ ? wide(adjoints_) : 0);

  by_place_.resize(segments_.size());
  std::iota(by_place_.begin(), by_place_.end(), std::size_t{0});
  std::sort(by_place_.begin(), by_place_.end(), [this](std::size_t a, std::size_t b) {
    return std::pair(segments_[a].branch, segments_[a].begin) <
           std::pair(segments_[b].branch, segments_[b].begin);
  });
  begin_slot_.assign(segments_.size(), kNone);
  end_slot_.assign(problem_.steps.size(), kNone);
  std::int64_t most_free = 0;
  for (const JoinSegment& segment : segments_) most_free = std::max(most_free, segment.free);
  kept_.reserve(at(most_free));
  free_slots_.reserve(at(problem_.slots));
}

std::int64_t BranchSweep::most_slots(const BranchOptions& options) {
  const std::int64_t states =
      options.reducible
          ? *std::max_element(options.steps.begin(), options.steps.end()) - 1
          : std::accumulate(options.steps.begin(), options.steps.end(), std::int64_t{0});
  const auto inputs = options.charged_inputs ? std::ssize(options.steps) : 0;
  return std::max<std::int64_t>(states + inputs, 1);
}

// ---- one action ----

Kept BranchSweep::kept(std::int64_t step, std::int64_t slot) const {
  return {.step = step, .place = slot, .room = {slot, 1}};
}

Action BranchSweep::keep(std::int64_t& slot) {
  if (free_slots_.empty()) {
    slot = slots_begun_++;
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  return Keep{kept(live_, slot)};
}

Action BranchSweep::drop(std::int64_t step, std::int64_t slot) {
  free_slots_.push_back(slot);
  return Drop{kept(step, slot)};
}

Action BranchSweep::advance(std::int64_t to, bool record) {
  const Advance action{
      .first = live_, .last = to, .branch = branch_, .record = record, .again = turned_};
  advances_ -= wide(to - live_);
  live_ = to;
  return action;
}

Action BranchSweep::turn() {
  live_ = kNone;
  return Turn{.step = end_of(branch_), .branch = branch_, .again = turned_};
}

Action BranchSweep::next() {
  switch (phase_) {
    case Phase::kForward:
      return forward_action();
    case Phase::kSeeEnds:
    case Phase::kDropEnds:
      return action_at_ends();
    case Phase::kReverse:
      break;
  }
  return reverse_action();
}

// ---- forward ----

Action BranchSweep::forward_action() {
  if (live_ == kNone) {
    live_ = 0;
    return Start{.branch = branch_, .again = turned_};
  }
  const std::int64_t end = end_of(branch_);
  if (live_ < end) {
    const std::size_t segment = by_place_[next_place_];
    const JoinSegment& here = segments_[segment];
    if (in_pool(here.begin) && begin_slot_[segment] == kNone) return keep(begin_slot_[segment]);
    ++next_place_;
    return advance(std::min(here.end, end), false);
  }
  if (!reducible_ && end_slot_[at(branch_)] == kNone) return keep(end_slot_[at(branch_)]);
  const Action action = turn();
  if (++branch_ < problem_.branches()) return action;
  turned_ = true;
  branch_ = 0;
  if (reducible_) {
    enter(0);
  } else {
    phase_ = Phase::kSeeEnds;
  }
  return action;
}

Action BranchSweep::action_at_ends() {
  if (phase_ == Phase::kSeeEnds && branch_ == problem_.branches()) {
    phase_ = Phase::kDropEnds;
    branch_ = 0;
  }
  const std::int64_t end = end_of(branch_), slot = end_slot_[at(branch_)];
  if (phase_ == Phase::kSeeEnds && live_ == kNone) {
    live_ = end;
    return Restore{kept(end, slot)};
  }
  const Action action = phase_ == Phase::kSeeEnds ? turn() : drop(end, slot);
  ++branch_;
  if (phase_ == Phase::kDropEnds && branch_ == problem_.branches()) enter(0);
  return action;
}

// ---- reverse ----

void BranchSweep::enter(std::size_t segment) {
  phase_ = Phase::kReverse;
  segment_ = segment;
  live_ = kNone;
  if (segment == segments_.size()) return;
  branch_ = segments_[segment].branch;
  target_ = segments_[segment].end - 1;
}

Action BranchSweep::restore_nearest() {
  if (!kept_.empty()) {
    live_ = kept_.back().step;
    return Restore{kept(live_, kept_.back().slot)};
  }
  live_ = segments_[segment_].begin;
  const std::int64_t slot = begin_slot_[segment_];
  if (slot != kNone) return Restore{kept(live_, slot)};
  return Start{.branch = branch_, .again = turned_};
}

Action BranchSweep::reverse_action() {
  for (;;) {
    if (segment_ == segments_.size()) return Done{};
    const JoinSegment& here = segments_[segment_];
    if (target_ < here.begin) {
      const std::int64_t slot = begin_slot_[segment_];
      const std::int64_t begin = here.begin;
      enter(segment_ + 1);
      if (slot == kNone) continue;
      return drop(begin, slot);
    }
    if (live_ == target_ && target_ == end_of(branch_)) {
      --target_;
      return turn();
    }
    if (live_ == target_ && record_) {
      recorded_ = true;
      return advance(target_ + 1, true);
    }
    if (live_ == target_ || recorded_) {
      const std::int64_t step = target_--;
      live_ = kNone;
      recorded_ = false;
      --adjoints_;
      return Adjoint{.step = step, .branch = branch_};
    }
    if (!kept_.empty() && kept_.back().step > target_) {
      const Entry top = kept_.back();
      kept_.pop_back();
      return drop(top.step, top.slot);
    }
    if (live_ == kNone) return restore_nearest();
    if (live_ != (kept_.empty() ? here.begin : kept_.back().step)) {
      kept_.push_back({live_, kNone});
      return keep(kept_.back().slot);
    }
    const std::int64_t steps = target_ + 1 - live_;
    const std::int64_t slots = here.free - std::ssize(kept_);
    return advance(live_ + splitter_.advance(steps, slots), false);
  }
}

std::int64_t BranchSweep::advances_remaining() const {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return advances_ > wide(kMost) ? kMost : static_cast<std::int64_t>(advances_);
}

RuleOptions rules_of(const BranchOptions& options) {
  RuleOptions rules;
  rules.steps = options.steps;
  rules.units = options.slots;
  rules.record = options.record;
  rules.starts_free = !options.charged_inputs;
  rules.ends_first = !options.reducible;
  rules.branches = true;
  return rules;
}

}  // namespace anadrome::schedule

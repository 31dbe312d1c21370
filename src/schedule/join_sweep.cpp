#include "schedule/join_sweep.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "schedule/join_planner.h"

namespace anadrome::schedule {
namespace {

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

JoinProblem problem_of(const JoinSweepOptions& options) {
  JoinProblem problem;
  problem.steps = options.steps;
  problem.slots = options.slots;
  problem.charged_inputs = options.charged_inputs;
  problem.ends_apart = options.reducible;  // no two are there at a time
  problem.live_apart = true;
  return problem;
}

// To make an end once more is one step more to be reversed.
JoinPlan plan_reducible(JoinProblem problem) {
  const std::int64_t branches = problem.branches();
  for (std::int64_t& steps : problem.steps) ++steps;
  JoinPlan plan = plan_reducible_join(problem);
  plan.advances -= static_cast<uint128>(branches);
  return plan;
}

std::int64_t slots_of_inputs(const JoinSweepOptions& options) {
  return options.charged_inputs ? static_cast<std::int64_t>(options.steps.size()) : 0;
}

JoinProblem checked_problem(const JoinSweepOptions& options) {
  JoinProblem problem = problem_of(options);
  check(problem);
  problem.slots = std::min(problem.slots, JoinSweep::most_slots(options));
  return problem;
}

}  // namespace

JoinPlan JoinSweep::plan(const JoinSweepOptions& options) {
  const JoinProblem problem = checked_problem(options);
  return options.reducible ? plan_reducible(problem)
                           : plan_join_within(problem, options.plan_bytes);
}

std::int64_t JoinSweep::most_plan_bytes(const JoinSweepOptions& options) {
  return options.reducible ? 0 : most_join_table_bytes(options.steps);
}

JoinSweep::JoinSweep(const JoinSweepOptions& options, const JoinPlan& plan)
    : problem_(checked_problem(options)),
      reducible_(options.reducible),
      record_(options.record),
      segments_(plan.segments) {
  adjoints_ = problem_.sum();
  advances_ = plan.advances + (record_ ? static_cast<uint128>(adjoints_) : 0);

  before_.assign(problem_.steps.size(), 0);
  std::partial_sum(problem_.steps.begin(), problem_.steps.end() - 1, before_.begin() + 1);
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

std::int64_t JoinSweep::fewest_slots(const JoinSweepOptions& options) {
  const auto ends = options.reducible ? 0 : static_cast<std::int64_t>(options.steps.size());
  return std::max<std::int64_t>(ends + slots_of_inputs(options), 1);
}

std::int64_t JoinSweep::most_slots(const JoinSweepOptions& options) {
  const std::int64_t states =
      options.reducible
          ? *std::max_element(options.steps.begin(), options.steps.end()) - 1
          : std::accumulate(options.steps.begin(), options.steps.end(), std::int64_t{0});
  return std::max<std::int64_t>(states + slots_of_inputs(options), 1);
}

// ---- one action ----

Action JoinSweep::make(Kind kind, std::int64_t first, std::int64_t last, std::int64_t slot) const {
  return {kind, false, turned_, first, last, slot, branch_};
}

Action JoinSweep::keep(std::int64_t& slot) {
  if (free_slots_.empty()) {
    slot = slots_begun_++;
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  return make(Kind::kKeep, live_, live_, slot);
}

Action JoinSweep::drop(std::int64_t step, std::int64_t slot) {
  free_slots_.push_back(slot);
  return make(Kind::kDrop, step, step, slot);
}

Action JoinSweep::advance(std::int64_t to, bool record) {
  Action action = make(Kind::kAdvance, live_, to);
  action.record = record;
  advances_ -= static_cast<uint128>(to - live_);
  live_ = to;
  return action;
}

Action JoinSweep::turn() {
  live_ = kNone;
  return make(Kind::kTurn, end_of(branch_), end_of(branch_));
}

Action JoinSweep::next() {
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

Action JoinSweep::forward_action() {
  if (live_ == kNone) {
    live_ = 0;
    return make(Kind::kStart, 0, 0);
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
  if (++branch_ < branches()) return action;
  turned_ = true;
  branch_ = 0;
  if (reducible_) {
    enter(0);
  } else {
    phase_ = Phase::kSeeEnds;
  }
  return action;
}

Action JoinSweep::action_at_ends() {
  if (phase_ == Phase::kSeeEnds && branch_ == branches()) {
    phase_ = Phase::kDropEnds;
    branch_ = 0;
  }
  const std::int64_t end = end_of(branch_), slot = end_slot_[at(branch_)];
  if (phase_ == Phase::kSeeEnds && live_ == kNone) {
    live_ = end;
    return make(Kind::kRestore, end, end, slot);
  }
  const Action action = phase_ == Phase::kSeeEnds ? turn() : drop(end, slot);
  ++branch_;
  if (phase_ == Phase::kDropEnds && branch_ == branches()) enter(0);
  return action;
}

std::int64_t JoinSweep::slot_of_end(std::int64_t branch) const {
  return phase_ == Phase::kSeeEnds ? end_slot_[at(branch)] : kNone;
}

// ---- reverse ----

void JoinSweep::enter(std::size_t segment) {
  phase_ = Phase::kReverse;
  segment_ = segment;
  live_ = kNone;
  if (segment == segments_.size()) return;
  branch_ = segments_[segment].branch;
  target_ = segments_[segment].end - 1;
}

Action JoinSweep::restore_nearest() {
  if (!kept_.empty()) {
    live_ = kept_.back().step;
    return make(Kind::kRestore, live_, live_, kept_.back().slot);
  }
  live_ = segments_[segment_].begin;
  const std::int64_t slot = begin_slot_[segment_];
  return make(slot == kNone ? Kind::kStart : Kind::kRestore, live_, live_, slot);
}

Action JoinSweep::reverse_action() {
  for (;;) {
    if (segment_ == segments_.size()) return Action{};
    const JoinSegment& here = segments_[segment_];
    if (target_ < here.begin) {
      const std::int64_t slot = begin_slot_[segment_];
      const Action action = slot == kNone ? Action{} : drop(here.begin, slot);
      enter(segment_ + 1);
      if (slot == kNone) continue;
      return action;
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
      return make(Kind::kAdjoint, step, step + 1);
    }
    if (!kept_.empty() && kept_.back().step > target_) {
      const Kept top = kept_.back();
      kept_.pop_back();
      return drop(top.step, top.slot);
    }
    if (live_ == kNone) return restore_nearest();
    if (live_ != (kept_.empty() ? here.begin : kept_.back().step)) {
      kept_.push_back({live_, kNone});
      return keep(kept_.back().slot);
    }
    const std::int64_t steps = target_ + 1 - live_;
    const std::int64_t slots = here.free - static_cast<std::int64_t>(kept_.size());
    const bool at_once = slots == 1 || steps == 2;
    return advance(at_once ? target_ : live_ + splitter_.split(steps, slots), false);
  }
}

std::int64_t JoinSweep::advances_remaining() const {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return advances_ > static_cast<uint128>(kMost) ? kMost : static_cast<std::int64_t>(advances_);
}

}  // namespace anadrome::schedule

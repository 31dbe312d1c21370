// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "base/index.h"
#include "schedule/passes/pass_sweep.h"
#include "schedule/passes/pass_times.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {
namespace {

using schedule::Direction;

// A pass in numbers.
struct Played {
  std::int64_t advances = 0, reads = 0;
  std::uint64_t kept = 14695981039346656037U;  ///< which states, and in which order
  friend bool operator==(const Played&, const Played&) = default;
};

// An anchor stays in memory until another one is restored.
Played play(schedule::PassSweep& sweep, const schedule::Pass& pass) {
  sweep.begin_pass(pass);
  Played played;
  played.advances = sweep.advances_remaining();
  std::int64_t in_memory = -1;
  for (schedule::Action action = sweep.next(); !std::holds_alternative<schedule::Done>(action);
       action = sweep.next()) {
    if (const auto* const keep = std::get_if<schedule::Keep>(&action))
      played.kept = (played.kept ^ static_cast<std::uint64_t>(keep->step)) * 1099511628211U;
    const auto* const kept = std::get_if<schedule::Restore>(&action);
    if (kept == nullptr || kept->tier != schedule::kDiskTier) continue;
    if (std::exchange(in_memory, kept->place) != kept->place) ++played.reads;
  }
  return played;
}

// Transfers and steps of a whole pass, each as often as it comes.
class PassTimes {
 public:
  PassTimes(const WhatIf& question, const RunProblem& run, const schedule::Remains& remains)
      : steps_(real(question.steps)), costs_(run.problem().costs) {
    costs_.visit = question.visit_seconds();
    const std::int64_t depth = remains.course.prefetch_depth != schedule::kUnknown
                                   ? remains.course.prefetch_depth
                                   : run.problem().read_ahead;
    reads_ahead_ = !remains.anchors.empty() && run.problem().shared.overlaps && depth > 0;
    if (remains.record || remains.anchors.empty()) return;
    stride_ = schedule::best_stride(costs_, question.steps, remains.anchors.count(), reads_ahead_);
  }

  std::int64_t stride() const { return stride_; }

  void add(PassCost& cost, Direction direction, const Played& played, std::int64_t passes) const {
    const auto times = real(passes);
    const bool forward = direction == Direction::kForward;
    const double computing =
        steps_ * (forward ? costs_.visit : costs_.adjoint) + real(played.advances) * costs_.forward;
    const double reading = real(played.reads) * costs_.read;
    const double taken = real(played.reads) * costs_.read_taken;
    const double seconds =
        reads_ahead_ ? std::max(computing + taken, reading) : computing + reading;
    cost.passes += times;
    cost.forward_steps += times * real(played.advances);
    cost.seconds += times * seconds;
    cost.waiting += times * (seconds - computing);
  }

 private:
  double steps_;
  schedule::StepCosts costs_;
  std::int64_t stride_ = 1;
  bool reads_ahead_ = false;
};

}  // namespace

void add_passes(Estimate& estimate, const WhatIf& question, const RunProblem& run) {
  const std::optional<schedule::Remains> remains = run.remains();
  if (!remains) {
    estimate.no_passes = "it does not hold x_0 any more when it is done";
    return;
  }
  const PassTimes times(question, run, *remains);
  schedule::PassSweep sweep(*remains);
  schedule::Pass pass;
  pass.restorable = std::max<std::int64_t>(remains->anchors.count(), 1);
  pass.states_per_block = run.memory().layout.states();
  // What a pass leaves serves the next one: soon all pairs are alike.
  constexpr std::int64_t kMostPairs = 8;
  Played forward, reverse;
  for (std::int64_t left = question.passes, pair = 0; left > 0; ++pair) {
    const Played forward_before = forward, reverse_before = reverse;
    pass.direction = Direction::kForward;
    pass.stride = times.stride();
    forward = play(sweep, pass);
    pass.direction = Direction::kReverse;
    pass.stride = 1;
    if (left > 1) reverse = play(sweep, pass);
    const bool alike = pair > 0 && forward == forward_before && reverse == reverse_before;
    const std::int64_t now = alike || pair == kMostPairs ? left : std::min<std::int64_t>(left, 2);
    times.add(estimate.forward_pass, Direction::kForward, forward, now - now / 2);
    times.add(estimate.reverse_pass, Direction::kReverse, reverse, now / 2);
    left -= now;
  }
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/anchored/anchored_sweep.h"

#include <algorithm>

#include "base/checked.h"

namespace anadrome::schedule {
namespace {

// Waiting for the disk in a sweep whose intervals take `forward` seconds, and `reverse` seconds to
// reverse. Memory helps at both ends: the first anchors wait in it to be written while others are
// put, and those that it holds at TURN are not read. Anchor k is put when anchor k - buffers is
// written; at TURN no more than `stay` anchors may still be under way, or the tail has no slots.
class Waiting {
 public:
  Waiting(const IntervalProblem& problem, const AsyncPlan& plan, double forward, double reverse,
          double reverse_below)
      : overlaps_(problem.memory.overlaps),
        reads_ahead_(overlaps_ && plan.prefetch_depth > 0),
        write_(problem.costs.write),
        read_(problem.costs.read),
        forward_(forward),
        reverse_(reverse),
        below_(static_cast<double>(problem.anchors_below)),
        reverse_below_(reverse_below) {
    const SharedMemory& memory = problem.memory;
    const auto states = static_cast<double>(memory.states_per_block);
    const double buffers = static_cast<double>(memory.blocks - 1) * states + 1;
    stay_ = static_cast<double>(plan.prefetch_depth) * states;
    if (write_ > 0) {  // those that were put faster than written; block 0 is written twice
      const double put = static_cast<double>(problem.newest_anchor) * problem.costs.forward;
      const double queued = problem.queued >= 0 ? problem.queued : below_ + states - put / write_;
      queued_ = std::clamp(queued, 0.0, buffers - 1);
    }
    free_ = buffers - queued_;
  }

  /// For the disk while `anchors` are put, and then the tail runs for so many seconds.
  double forward(double anchors, double tail) const {
    if (anchors == 0) return 0;
    if (!overlaps_) return anchors * write_;
    const double computing = anchors * forward_;
    return std::max({0.0, (anchors + 1 - free_) * write_ - computing,
                     (anchors + queued_ - stay_) * write_ - computing - tail});
  }
  double reverse(double anchors) const {
    if (!reads_ahead_) return anchors * read_;
    double waits = 0;
    if (anchors > 0) waits = (anchors - stay_) * read_ - (anchors - 1) * reverse_;
    if (below_ > 0) {
      const double all = (anchors + below_ - stay_) * read_;
      waits = std::max(waits, all - anchors * reverse_ - (below_ - 1) * reverse_below_);
    }
    return std::max(waits, 0.0);
  }

 private:
  bool overlaps_, reads_ahead_;
  double write_, read_, forward_, reverse_, below_, reverse_below_;
  double free_ = 1, stay_ = 0, queued_ = 0;
};

}  // namespace

AnchoredSweep anchored_sweep(const IntervalProblem& problem, const AsyncPlan& plan) {
  const std::int64_t steps = problem.steps, interval = plan.interval, slots = plan.slots;
  const bool record = problem.record;
  const std::int64_t tape_units = problem.memory.tape_units;
  const double f = problem.costs.forward;
  StepCosts costs = problem.costs;
  if (record) costs.adjoint += f;
  const double steps_per_interval = static_cast<double>(interval);
  const uint128 advances = advances_from_anchor(interval, slots, tape_units);
  // Steps that are run more often than in the tail; there the first run records kept tapes.
  const uint128 again = advances + (tape_units > 0 ? static_cast<uint128>(interval) : uint128{0});
  const double tail_step = f + (tape_units > 0 ? problem.costs.adjoint : costs.adjoint);
  const double there = steps_per_interval * f + (problem.memory.overlaps ? costs.write_taken : 0);
  const bool reads_ahead = problem.memory.overlaps && plan.prefetch_depth > 0;
  const auto computing_back = [&](std::int64_t length) {
    return static_cast<double>(advances_from_anchor(length, slots, tape_units)) * f +
           static_cast<double>(length) * costs.adjoint + (reads_ahead ? costs.read_taken : 0);
  };
  const double back = computing_back(interval);
  const std::int64_t below = problem.anchors_below;
  const double back_below =
      below > 0 ? computing_back(std::max<std::int64_t>(problem.newest_anchor / below, 1)) : 0;
  const Waiting waiting(problem, plan, there, back, back_below);
  const auto tail = [&](std::int64_t length) {
    return tail_steps(length, slots, record, tape_units);
  };
  struct Taken {
    double waiting, seconds;
  };
  const auto seconds_with = [&](std::int64_t written) -> Taken {
    const auto anchors = static_cast<double>(written);
    const std::int64_t rest = steps - written * interval;
    const double waits =
        waiting.forward(anchors, static_cast<double>(rest) * f) + waiting.reverse(anchors);
    return {waits, waits + anchors * (there + back) + static_cast<double>(rest) * tail_step +
                       static_cast<double>(tail(rest)) * f};
  };
  // An anchor pays when the tail is so long that its first interval costs more from RAM. A longer
  // tail's cost grows ever faster, so the number of anchors that pay can be bisected.
  constexpr double kNoise = 1e-12;
  const auto pays = [&](std::int64_t written) {  // one more than `written`
    const std::int64_t left = steps - written * interval;
    const double with = seconds_with(written + 1).seconds;
    return tail(left) - tail(left - interval) > again &&
           seconds_with(written).seconds - with > kNoise * with;
  };
  std::int64_t low = 0, high = steps > 0 ? (steps - 1) / interval : 0;
  high = plan.ends_in_ram ? 0 : std::min(high, problem.anchors_left);
  if (problem.all_anchors || problem.interval_given) {
    const std::int64_t last =
        problem.all_anchors ? interval : longest_tail(interval, slots, record, tape_units);
    low = steps > last ? std::min(ceil_divide(steps - last, interval), high) : 0;
    high = low;
  }
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (pays(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  AnchoredSweep sweep;
  sweep.written = low;
  const uint128 tail_again = tail(steps - low * interval);
  sweep.advances = static_cast<uint128>(low) * again + tail_again;
  if (tape_units == 0) sweep.advances += static_cast<uint128>(steps);
  const Taken taken = seconds_with(low);
  sweep.waiting = taken.waiting;
  sweep.below = static_cast<double>(below) * (back_below + (reads_ahead ? 0 : costs.read));
  sweep.seconds = taken.seconds;
  if (record && tape_units == 0 && steps > 0) {  // the last step's first run records it
    sweep.seconds -= f;
    --sweep.advances;
  }
  return sweep;
}

}  // namespace anadrome::schedule

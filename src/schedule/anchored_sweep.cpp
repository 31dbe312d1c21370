#include "schedule/anchored_sweep.h"

#include <algorithm>
#include <cmath>

namespace anadrome::schedule {

// Beyond the first run of its steps, in which kept tapes are recorded in passing.
uint128 AnchoredModel::tail(std::int64_t steps, std::int64_t slots) const {
  if (tape_units_ > 0) return advances_from_anchor(steps, slots, tape_units_);
  if (!record_) return extra_advances(steps + 1, slots) - static_cast<uint128>(steps);
  return steps == 0 ? 0 : extra_advances(steps, slots) - static_cast<uint128>(steps - 1);
}

AnchoredSweep AnchoredModel::sweep(std::int64_t interval, std::int64_t slots, Overlap overlap,
                                   std::int64_t most_written) const {
  const double f = costs_.forward;
  StepCosts costs = costs_;
  if (record_) costs.adjoint += f;
  const double steps_per_interval = static_cast<double>(interval);
  const double per_interval =
      steps_per_interval * seconds_per_step(costs, interval, slots, overlap, tape_units_);
  const uint128 advances = advances_from_anchor(interval, slots, tape_units_);
  // Steps that are run more often than in the tail; there the first run records kept tapes.
  const uint128 again = advances + (tape_units_ > 0 ? static_cast<uint128>(interval) : uint128{0});
  const double tail_step = f + (tape_units_ > 0 ? costs_.adjoint : costs.adjoint);
  // An anchor pays when the tail is so long that its first interval costs more from RAM. A longer
  // tail's cost grows ever faster, so the number of anchors that pay can be bisected.
  constexpr double kNoise = 1 + 1e-12;
  const auto pays = [&](std::int64_t written) {  // one more than `written`
    const std::int64_t left = steps_ - written * interval;
    const uint128 saved = tail(left, slots) - tail(left - interval, slots);
    return saved > again &&
           static_cast<double>(saved) * f + steps_per_interval * tail_step > per_interval * kNoise;
  };
  std::int64_t low = 0, high = std::min(most_written, steps_ > 0 ? (steps_ - 1) / interval : 0);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (pays(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  AnchoredSweep sweep;
  sweep.interval = interval;
  sweep.written = low;
  const std::int64_t rest = steps_ - low * interval;
  const uint128 tail_again = tail(rest, slots);
  sweep.advances = static_cast<uint128>(low) * again + tail_again;
  if (tape_units_ == 0) sweep.advances += static_cast<uint128>(steps_);
  const double intervals = static_cast<double>(low);
  sweep.seconds = intervals * per_interval + static_cast<double>(rest) * tail_step +
                  static_cast<double>(tail_again) * f;
  if (record_ && tape_units_ == 0 && steps_ > 0) {  // the last step's first run records it
    sweep.seconds -= f;
    --sweep.advances;
  }
  const double computing =
      steps_per_interval * (f + costs.adjoint) + static_cast<double>(advances) * f;
  sweep.waiting = std::max(0.0, intervals * (per_interval - computing));
  return sweep;
}

AnchoredSweep AnchoredModel::best(std::int64_t slots, Overlap overlap,
                                  std::int64_t most_written) const {
  AnchoredSweep best = sweep(std::max<std::int64_t>(steps_, 1), slots, overlap, most_written);
  const auto consider = [&](double interval) {
    if (!(interval >= 1 && interval < static_cast<double>(steps_))) return;
    const AnchoredSweep other =
        sweep(static_cast<std::int64_t>(interval), slots, overlap, most_written);
    if (other.seconds < best.seconds) best = other;
  };
  constexpr int kEach = 128;
  constexpr double kApart = 1.04;
  for (int interval = 1; interval <= kEach; ++interval) consider(interval);
  for (double interval = kEach * kApart; interval < static_cast<double>(steps_);
       interval *= kApart) {
    consider(std::floor(interval));
  }
  // Where writes are just hidden.
  const double published = std::ceil(costs_.write / costs_.forward);
  consider(published - 1);
  consider(published);
  return best;
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/measurements.h"

#include <algorithm>
#include <utility>

namespace anadrome::engine {

void Measurements::bring(Agreement::Input& input, const store::DiskTier* tier) const {
  AgreedNumbers mine;
  mine.forward = forward_.seconds();
  if (forward_.samples() > 0) mine.fastest = std::min(fastest_, mine.forward);
  mine.adjoint = adjoint_.seconds();
  if (tier != nullptr) {
    const store::Tier::Cost cost = tier->cost();
    mine.write = cost.write;
    mine.read = cost.read;
    if (tier->volumes() > 1) {
      const store::Tier::Cost fast = tier->cost_of(store::kFast);
      mine.fast_write = fast.write;
      mine.fast_read = fast.read;
      mine.home_writes = static_cast<double>(tier->writes_under_way(store::kHome));
    }
    // No more than the I/O thread computes: what else keeps the caller waiting is not its doing.
    const auto taken = [this](const store::Meter& start, const store::Meter& processor) {
      return cores_are_busy_ ? processor.seconds() : std::min(start.seconds(), processor.seconds());
    };
    bool has_written = false;
    for (int volume = 0; volume < tier->volumes(); ++volume) {
      const store::TransferTimes& times = transfers_[at(volume)];
      mine.write_taken =
          std::max(mine.write_taken, taken(times.write_start, times.write_processor));
      mine.read_taken = std::max(mine.read_taken, taken(times.read_start, times.read_processor));
      mine.waited += tier->notes(volume).seconds_stalled();
      has_written = has_written || times.write.seconds() > 0;
    }
    // Whether a time is known must be known of all ranks: the smallest says so.
    input.smallest = has_written ? 1 : 0;
    mine.filled = tier->filled();
  }
  mine.elapsed = now_seconds() - began_ - comparing_;
  mine.copy = copy();
  mine.anchor_copy = anchor_copy();
  input.largest = mine.in_order();
}

void Measurements::take(const Agreement::Output& output) {
  agreed_ = AgreedNumbers::from(output.largest);
  interval_times_.fastest_step_is(agreed_.fastest);
  write_times_known_ = output.smallest >= 1;
}

void Measurements::begin_sweep() {
  began_ = now_seconds();
  comparing_ = 0;
  interval_began_ = {};
  if (agreed_.filled.mean > 0) share_before_ = agreed_.filled.mean;
  agreed_.filled = {};
}

// Without the copies: Revolve makes as many. The interval from x_0 on has probes in it.
void Measurements::learn(const IntervalEnd& end) {
  if (end.anchor < 1) return;
  const IntervalBegan began =
      std::exchange(interval_began_, {true, end, agreed_.elapsed, agreed_.waited});
  if (!began.known) return;
  const auto anchors = static_cast<double>(end.anchor - began.end.anchor);
  interval_times_.add(static_cast<double>(end.advances - began.end.advances), anchors,
                      agreed_.elapsed - began.elapsed - anchors * agreed_.anchor_copy,
                      agreed_.waited - began.waited);
}

void Measurements::begin_disk(bool cores_are_busy) {
  transfers_ = {};
  agreed_.filled = {};
  share_before_ = 0;
  interval_times_ = {};
  of_earlier_sweep_ = false;
  cores_are_busy_ = cores_are_busy;
}

schedule::VolumeCosts Measurements::disk() const {
  const auto& [home, fast] = uses_;
  const schedule::VolumeCosts at_home = {agreed_.write, agreed_.read};
  if (!fast) return at_home;
  const schedule::VolumeCosts at_fast = {agreed_.fast_write, agreed_.fast_read};
  if (!home || at_home.write <= 0) return at_fast;
  return at_fast.write > 0 ? schedule::side_by_side(at_home, at_fast) : at_home;
}

schedule::StepCosts Measurements::costs(std::int64_t state_bytes) const {
  schedule::StepCosts costs;
  costs.forward = std::max(agreed_.forward, 1e-9);
  const schedule::VolumeCosts disk = this->disk();
  costs.write = disk.write;
  if (!write_times_known_) {  // no write is done yet
    constexpr double kGuessedBytesPerSecond = 1e9;
    const double guess = static_cast<double>(state_bytes) / kGuessedBytesPerSecond;
    costs.write = std::max(guess, disk.write);
  }
  costs.read = disk.read > 0 ? disk.read : costs.write;
  costs.write_taken = agreed_.write_taken;
  costs.read_taken = agreed_.read_taken > 0 ? agreed_.read_taken : agreed_.write_taken;
  costs = interval_times_.costs(interval_times_.newest(), costs);
  constexpr double kAdjointPerForward = 2;  // until an adjoint step was measured
  costs.adjoint = agreed_.adjoint > 0 ? agreed_.adjoint : kAdjointPerForward * costs.forward;
  return costs;
}

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/measurements.h"

#include <algorithm>
#include <utility>

namespace anadrome::engine {

void Measurements::finish_step_tables(Ranks& ranks) {
  for (StepTable* table : {&step_costs_, &adjoint_costs_, &state_bytes_}) {
    if (table->measuring()) table->finish(ranks);
  }
}

void Measurements::bring(Agreement::Input& input, const store::DiskTier* tier) const {
  AgreedNumbers mine;
  mine.forward = forward_.seconds();
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
      const store::TransferTimes& times = transfers_[static_cast<std::size_t>(volume)];
      mine.write_taken =
          std::max(mine.write_taken, taken(times.write_start, times.write_processor));
      mine.read_taken = std::max(mine.read_taken, taken(times.read_start, times.read_processor));
      mine.waited += tier->notes(volume).seconds_stalled();
      has_written = has_written || times.write.seconds() > 0;
    }
    // Whether a time is known must be known of all ranks: the smallest says so.
    if (has_written) input.smallest = tier->is_writing() ? 1 : 2;
    mine.filled = tier->filled();
  }
  mine.elapsed = now_seconds() - began_;
  mine.copy = copy();
  mine.anchor_copy = anchor_copy();
  input.largest = mine.in_order();
}

void Measurements::take(const Agreement::Output& output) {
  const auto& [forward, adjoint, write, read, write_taken, read_taken, elapsed, waited, copy,
               anchor_copy, taken, share, mean, fast_write, fast_read, home_writes] =
      output.largest;
  agreed_ = {forward,   adjoint,    write, read,        write_taken,          read_taken,
             elapsed,   waited,     copy,  anchor_copy, {taken, share, mean}, fast_write,
             fast_read, home_writes};
  write_times_known_ = output.smallest >= 1;
  nobody_writes_ = output.smallest == 2;
}

void Measurements::begin_sweep() {
  began_ = now_seconds();
  interval_began_ = {};
  if (agreed_.filled.mean > 0) share_before_ = agreed_.filled.mean;
  agreed_.filled = {};
  if (std::exchange(first_is_done_, false)) forward_fit_ = reverse_fit_ = {};  // it was cold
  forward_fit_.begin_anew();
  reverse_fit_.begin_anew();
}

void Measurements::sweep_is_done(bool with_disk, const SweepKind& kind,
                                 const std::optional<schedule::AsyncPlan>& whole) {
  const bool first = !of_earlier_sweep_;
  if (with_disk) first_is_done_ = first;
  of_earlier_sweep_ = with_disk && agreed_.forward > 0 && write_times_known_;
  if (first || !of_earlier_sweep_ || !whole) return;
  if (std::exchange(took_kind_, kind) != kind) took_ = {};
  took_.note(*whole, agreed_.elapsed);
}

// The first intervals are not like the others: memory is touched for the first time, fingerprints
// are taken of the first advances, and compared in the reverse sweep. That begins in an interval's
// middle.
void Measurements::learn(const IntervalEnd& end) {
  constexpr std::int64_t kFirstAnchors = 4;
  if (end.anchor < kFirstAnchors) return;
  const IntervalBegan began = interval_began_;
  const bool same_sweep = began.known && began.end.reverse == end.reverse;
  const std::int64_t kept = end.anchor - began.end.anchor;
  if (same_sweep && (end.reverse ? kept >= 0 : kept <= 0)) return;  // in the middle of an interval
  interval_began_ = {true, end, agreed_.elapsed, agreed_.waited};
  if (!same_sweep) return;
  const double elapsed = agreed_.elapsed - began.elapsed;
  const double computing = elapsed - (agreed_.waited - began.waited);
  const auto anchors = static_cast<double>(end.reverse ? -kept : kept);
  const auto moved = [&](double transfer) {  // no more than there was time for
    return transfer > 0 ? anchors * std::min(1.0, elapsed / transfer) : anchors;
  };
  const auto advances = static_cast<double>(end.advances - began.end.advances);
  if (!end.reverse) return forward_fit_.add(advances, anchors, moved(disk().write), computing);
  const auto adjoints = static_cast<double>(end.adjoints - began.end.adjoints);
  reverse_fit_.add(adjoints, anchors, moved(disk().read), computing - advances * forward_step());
}

// Of an advance beside no transfer.
double Measurements::forward_step() const {
  return std::max(forward_fit_.separates() ? forward_fit_.step() : agreed_.forward, 1e-9);
}

void Measurements::begin_disk(bool cores_are_busy) {
  transfers_ = {};
  agreed_.filled = {};
  share_before_ = 0;
  forward_fit_ = reverse_fit_ = {};
  took_ = {};
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
  costs.forward = forward_step();
  constexpr double kAdjointPerForward = 2;  // until an adjoint step was measured
  costs.adjoint = agreed_.adjoint > 0 ? agreed_.adjoint : kAdjointPerForward * costs.forward;
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
  // Each step has a copy to keep a state and one to restore it, whatever the interval is: the first
  // is a write's in the forward sweep, where it is counted, and is left out of the reverse sweep.
  if (forward_fit_.separates()) {
    // A transfer takes no more of the steps than its own time.
    costs.write_taken = std::clamp(forward_fit_.transfer() - agreed_.anchor_copy, 0.0, costs.write);
    costs.read_taken = std::min(costs.write_taken, costs.read);
  }
  if (reverse_fit_.separates()) {
    costs.adjoint = std::max(reverse_fit_.step() - 2 * agreed_.copy, 1e-9);
    costs.read_taken = std::clamp(reverse_fit_.transfer() + agreed_.copy, 0.0, costs.read);
  }
  return costs;
}

}  // namespace anadrome::engine

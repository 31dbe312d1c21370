#include "tool/schedules/timed_sweep.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace anadrome::tool {
namespace {

class Clock {
 public:
  Clock(const WhatIf& question, const Estimate& estimate, const SweepSinks& sinks)
      : question_(question),
        sweep_(estimate.sweep),
        sinks_(sinks),
        overlapped_(estimate.counts.overlapped),
        reads_ahead_(estimate.reads_ahead) {}

  void play(const schedule::Turn&) {
    turned_ = true;
    read_may_begin_ = now_;
  }

  // Steps that were not run before, then those that were: an advance may be both.
  void play(const schedule::Advance& run) {
    const std::int64_t again = std::clamp(run_before_, run.first, run.last);
    solve(Activity::kRecompute, run.first, again);
    solve(Activity::kAdvance, again, run.last);
    run_before_ = std::max(run_before_, run.last);
  }

  void play(const schedule::Adjoint& adjoint) {
    // Without tapes the problem's last step is TURN.
    if (!turned_) play(schedule::Turn{});
    if (!sweep_.record && adjoint.step == sweep_.steps - 1) return;
    pass(Activity::kAdjoint, question_.adjoint, adjoint.step + 1, adjoint.step);
  }

  void play(const schedule::Keep& kept) {
    wait_for_slot(kept);
    held_[place_of(kept)] = now_;
    if (!is_on_disk(kept)) return;
    if (overlapped_) wait_until(disk_free_, kept.step);
    transfer(Activity::kWrite, question_.write_seconds(), now_, kept.step);
    if (overlapped_) {  // its block in memory
      sinks_.held({schedule::kRamTier, 0, 1, now_, disk_free_});
    } else {
      wait_until(disk_free_, kept.step);
    }
  }

  void play(const schedule::Restore& kept) {
    wait_for_slot(kept);
    if (!is_on_disk(kept)) return;
    if (overlapped_ && loaded_ == kept.place) return;  // its block is still in memory
    const bool ahead = overlapped_ && reads_ahead_;
    transfer(Activity::kRead, question_.read_seconds(), ahead ? read_may_begin_ : now_, kept.step);
    wait_until(disk_free_, kept.step);
    loaded_ = kept.place;
    read_may_begin_ = now_;
    if (overlapped_) held_[kBlock] = now_;
  }

  void play(const schedule::Drop& kept) { drop(place_of(kept)); }

  void play(const schedule::Write& kept) {
    queue(Activity::kWrite, question_.write_seconds(), kept);
  }

  void play(const schedule::Read& kept) {
    held_[place_of(kept)] = now_;
    queue(Activity::kRead, question_.read_seconds(), kept);
  }

  template <class Other>
  void play(const Other&) {}

  double finish() {
    while (!held_.empty()) drop(held_.begin()->first);
    return now_;
  }

 private:
  using Place = std::tuple<schedule::What, std::int32_t, std::int64_t>;  ///< tier and slot
  static constexpr Place kBlock = {schedule::What::kState, schedule::kRamTier, 0};

  static Place place_of(const schedule::Kept& kept) { return {kept.what, kept.tier, kept.place}; }
  static bool is_on_disk(const schedule::Kept& kept) { return kept.tier == schedule::kDiskTier; }
  static bool is_slot(const Place& place) {
    return std::get<0>(place) == schedule::What::kState && std::get<1>(place) == schedule::kRamTier;
  }

  void solve(Activity activity, std::int64_t first, std::int64_t last) {
    if (first == last) return;
    pass(activity, static_cast<double>(last - first) * question_.forward, first, last);
  }

  void pass(Activity activity, double seconds, std::int64_t first, std::int64_t last) {
    sinks_.span(
        {activity, now_, now_ + seconds, static_cast<double>(first), static_cast<double>(last)});
    now_ += seconds;
  }

  void wait_until(double time, std::int64_t step) {
    if (time > now_) pass(Activity::kWait, time - now_, step, step);
  }

  void transfer(Activity activity, double seconds, double start, std::int64_t step) {
    disk_free_ = std::max(disk_free_, start) + seconds;
    sinks_.span({activity, disk_free_ - seconds, disk_free_, static_cast<double>(step),
                 static_cast<double>(step)});
  }

  // A planned transfer of a slot in RAM, which nothing else may use until it is done.
  void queue(Activity activity, double seconds, const schedule::Kept& kept) {
    double& busy = busy_until_[kept.place];
    transfer(activity, seconds, std::max(now_, busy), kept.step);
    busy = disk_free_;
  }

  void wait_for_slot(const schedule::Kept& kept) {
    if (is_slot(place_of(kept))) wait_until(busy_until_[kept.place], kept.step);
  }

  void drop(Place place) {
    const auto held = held_.find(place);
    if (held == held_.end()) return;
    const auto [what, tier, slot] = place;
    const std::int64_t slots = what == schedule::What::kTape ? sweep_.tape_slots : 1;
    const double end = is_slot(place) ? std::max(now_, busy_until_[slot]) : now_;
    sinks_.held({tier, slot, slots, held->second, end});
    held_.erase(held);
    if (overlapped_ && tier == schedule::kDiskTier && slot == loaded_) drop(kBlock);
  }

  const WhatIf& question_;
  const Problem& sweep_;
  const SweepSinks& sinks_;
  bool overlapped_, reads_ahead_;
  bool turned_ = false;
  double now_ = 0, disk_free_ = 0, read_may_begin_ = 0;
  std::int64_t run_before_ = 0, loaded_ = -1;
  std::map<Place, double> held_;               ///< since when
  std::map<std::int64_t, double> busy_until_;  ///< slots that are written or read
};

}  // namespace

double play(const ActionSource& next, const WhatIf& question, const Estimate& estimate,
            const SweepSinks& sinks) {
  Clock clock(question, estimate, sinks);
  each_action(next, [&](const auto& action) { clock.play(action); });
  return clock.finish();
}

}  // namespace anadrome::tool

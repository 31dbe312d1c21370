#include "tool/schedules/timed_sweep.h"

#include <algorithm>
#include <map>
#include <utility>

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

  void play(const PlannedAction& action) {
    switch (action.verb) {
      case Verb::kAdvance:
        return advance(action);
      case Verb::kAdjoint:
        return adjoint(action);
      case Verb::kKeep:
        return keep(action);
      case Verb::kRestore:
        return restore(action);
      case Verb::kDrop:
        return drop(action.tier, action.slot);
      case Verb::kTurn:
        return turn();
      case Verb::kWrite:
        return queue(Activity::kWrite, question_.write_seconds(), action);
      case Verb::kRead:
        return queue(Activity::kRead, question_.read_seconds(), action);
    }
  }

  double finish() {
    while (!held_.empty()) drop(held_.begin()->first.first, held_.begin()->first.second);
    return now_;
  }

 private:
  void turn() {
    turned_ = true;
    read_may_begin_ = now_;
  }

  // Steps that were not run before, then those that were: an advance may be both.
  void advance(const PlannedAction& action) {
    const std::int64_t again = std::clamp(run_before_, action.first, action.last);
    solve(Activity::kRecompute, action.first, again);
    solve(Activity::kAdvance, again, action.last);
    run_before_ = std::max(run_before_, action.last);
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

  void adjoint(const PlannedAction& action) {
    // Without tapes the problem's last step is TURN.
    if (!turned_) turn();
    if (!sweep_.record && action.first == sweep_.steps - 1) return;
    pass(Activity::kAdjoint, question_.adjoint, action.first + 1, action.first);
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
  void queue(Activity activity, double seconds, const PlannedAction& action) {
    double& busy = busy_until_[action.slot];
    if (activity == Activity::kRead) held_[{action.tier, action.slot}] = now_;
    transfer(activity, seconds, std::max(now_, busy), action.first);
    busy = disk_free_;
  }

  void keep(const PlannedAction& action) {
    if (action.tier == Tier::kRam) wait_until(busy_until_[action.slot], action.first);
    held_[{action.tier, action.slot}] = now_;
    if (action.tier != Tier::kDisk) return;
    if (overlapped_) wait_until(disk_free_, action.first);
    transfer(Activity::kWrite, question_.write_seconds(), now_, action.first);
    if (overlapped_) {  // its block in memory
      sinks_.held({Tier::kRam, 0, 1, now_, disk_free_});
    } else {
      wait_until(disk_free_, action.first);
    }
  }

  void restore(const PlannedAction& action) {
    if (action.tier == Tier::kRam) wait_until(busy_until_[action.slot], action.first);
    if (action.tier != Tier::kDisk) return;
    if (overlapped_ && loaded_ == action.slot) return;  // its block is still in memory
    const bool ahead = overlapped_ && reads_ahead_;
    transfer(Activity::kRead, question_.read_seconds(), ahead ? read_may_begin_ : now_,
             action.first);
    wait_until(disk_free_, action.first);
    loaded_ = action.slot;
    read_may_begin_ = now_;
    if (overlapped_) held_[{Tier::kRam, 0}] = now_;
  }

  void drop(Tier tier, std::int64_t slot) {
    const auto held = held_.find({tier, slot});
    if (held == held_.end()) return;
    const std::int64_t slots = tier == Tier::kTape ? sweep_.tape_slots : 1;
    const double end = tier == Tier::kRam ? std::max(now_, busy_until_[slot]) : now_;
    sinks_.held({tier == Tier::kDisk ? Tier::kDisk : Tier::kRam, slot, slots, held->second, end});
    held_.erase(held);
    if (overlapped_ && tier == Tier::kDisk && slot == loaded_) drop(Tier::kRam, 0);
  }

  const WhatIf& question_;
  const Problem& sweep_;
  const SweepSinks& sinks_;
  bool overlapped_, reads_ahead_;
  bool turned_ = false;
  double now_ = 0, disk_free_ = 0, read_may_begin_ = 0;
  std::int64_t run_before_ = 0, loaded_ = -1;
  std::map<std::pair<Tier, std::int64_t>, double> held_;  ///< since when
  std::map<std::int64_t, double> busy_until_;             ///< slots that are written or read
};

}  // namespace

double play(const ActionSource& next, const WhatIf& question, const Estimate& estimate,
            const SweepSinks& sinks) {
  Clock clock(question, estimate, sinks);
  PlannedAction action;
  while (next(action)) clock.play(action);
  return clock.finish();
}

}  // namespace anadrome::tool

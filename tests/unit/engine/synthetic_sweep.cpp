// SPDX-License-Identifier: BSD-2-Clause
#include "synthetic_sweep.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include "schedule/anchored/anchored_planner.h"
#include "schedule/stack/plain_planners.h"
#include "schedule/stack/stack_sweep.h"

namespace anadrome::engine {
namespace {

class SolverAndDisk {
 public:
  explicit SolverAndDisk(const SyntheticCosts& costs) : costs_(costs), random_(costs.seed) {}

  std::vector<TraceEvent> run() {
    using namespace schedule;
    const bool anchored = costs_.interval > 0;
    StackOptions options;
    options.steps = costs_.steps;
    options.units = anchored ? costs_.slots - 1 : costs_.slots;
    options.x_0 = anchored ? Place::kDisk : Place::kRam;
    options.anchors_stay = anchored;
    options.disk_slots = anchored ? kNoLimit : 0;
    std::unique_ptr<Planner> planner = std::make_unique<RevolvePlanner>();
    if (anchored) {
      planner = std::make_unique<AnchoredPlanner>(AnchoredOptions{
          .steps = costs_.steps, .slots = costs_.slots, .interval = costs_.interval});
    }
    StackSweep sweep(options, std::move(planner));
    for (bool goes_on = true; goes_on;) {
      std::visit(Cases{[&](const Advance& run) {
                         solve(run.again ? Activity::kRecompute : Activity::kAdvance, run.first,
                               run.last,
                               costs_.advance * static_cast<double>(run.last - run.first));
                       },
                       [&](const Keep& kept) {
                         kept.tier == kDiskTier ? keep_anchor(kept.step) : copy(kept.step);
                       },
                       [&](const Restore& kept) {
                         kept.tier == kDiskTier ? restore(kept) : copy(kept.step);
                       },
                       [&](const Turn& turn) {
                         solve(Activity::kTurn, turn.step, turn.step, 3 * costs_.advance);
                         if (anchored) prefetch(static_cast<std::int64_t>(written_.size()) - 2);
                       },
                       [&](const Adjoint& next) {
                         solve(Activity::kAdjoint, next.step, next.step + 1, costs_.adjoint);
                       },
                       [&](const Done&) { goes_on = false; }, [](const auto&) {}},
                 sweep.next());
    }
    return events_;
  }

 private:
  double about(double seconds) {
    const double fraction = static_cast<double>(random_() >> 11) * 0x1p-53;
    return seconds * (1 + costs_.jitter * (2 * fraction - 1));
  }
  void solve(Activity activity, std::int64_t first, std::int64_t last, double seconds) {
    const double start = now_;
    now_ += about(seconds);
    events_.push_back({start, now_, first, last, activity});
    now_ += 1e-6;
  }
  void copy(std::int64_t step) { solve(Activity::kCopy, step, step, costs_.copy); }
  void keep_anchor(std::int64_t step) {
    wait_until(oldest_in_flight(), step);
    copy(step);
    agree(step);
    transfer(Activity::kWrite, step, costs_.write);
    written_.push_back(step);
  }
  void agree(std::int64_t step) {
    const double start = now_;
    now_ += about(costs_.agree);
    events_.push_back({start, now_, step, step, Activity::kAgree});
  }
  void wait_until(double time, std::int64_t step) {
    if (time <= now_) return;
    events_.push_back({now_, time, step, step, Activity::kWait});
    now_ = time;
  }
  double transfer(Activity activity, std::int64_t step, double seconds) {
    const double start = std::max(now_, io_free_);
    io_free_ = start + about(seconds);
    events_.push_back({start, io_free_, step, step, activity});
    ends_.push_back(io_free_);
    return io_free_;
  }
  double oldest_in_flight() const {
    const auto most = static_cast<std::size_t>(costs_.blocks_in_flight);
    return ends_.size() < most ? 0 : ends_[ends_.size() - most];
  }
  void prefetch(std::int64_t anchor) {
    for (int i = 0; i < costs_.blocks_in_flight && anchor - i >= 0; ++i) {
      const std::int64_t number = anchor - i;
      if (read_.contains(number)) continue;
      read_[number] =
          transfer(Activity::kRead, written_[static_cast<std::size_t>(number)], costs_.read);
    }
  }
  void restore(const schedule::Kept& kept) {
    if (kept.place + 1 < static_cast<std::int64_t>(written_.size())) {
      prefetch(kept.place);
      wait_until(read_[kept.place], kept.step);
      agree(kept.step);
    }
    copy(kept.step);
    prefetch(kept.place - 1);
  }

  const SyntheticCosts costs_;
  std::mt19937_64 random_;
  std::vector<TraceEvent> events_;
  std::vector<std::int64_t> written_;
  std::vector<double> ends_;
  std::map<std::int64_t, double> read_;
  double now_ = 0, io_free_ = 0;
};

}  // namespace

std::vector<TraceEvent> synthetic_sweep(const SyntheticCosts& costs) {
  return SolverAndDisk(costs).run();
}

}  // namespace anadrome::engine

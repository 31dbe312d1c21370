#include "schedule/sweep_forecast.h"

#include <algorithm>
#include <vector>

namespace anadrome::schedule {
namespace {

// The solver and the disk, which serves its queue in order.
class TwoTierClock {
 public:
  TwoTierClock(const StepCosts& costs, const TwoTierMemory& memory)
      : costs_(costs), memory_(memory) {}

  double now() const { return now_; }
  void compute(double seconds) { now_ += seconds; }

  void write() {
    if (!memory_.overlaps) return compute(costs_.write);
    const auto buffered = static_cast<double>(std::max<std::int64_t>(memory_.buffers - 1, 0));
    now_ = std::max(now_ + costs_.write_taken, disk_free_ - buffered * costs_.write);
    disk_free_ = std::max(disk_free_, now_) + costs_.write;
  }
  /// `since`: when there was room to read it into.
  void read(double since) {
    if (!memory_.overlaps) return compute(costs_.read);
    const double begins = memory_.reads_ahead ? since : now_;
    disk_free_ = std::max(disk_free_, begins) + costs_.read;
    now_ = std::max(now_ + costs_.read_taken, disk_free_);
  }

 private:
  const StepCosts& costs_;
  const TwoTierMemory& memory_;
  double now_ = 0, disk_free_ = 0;
};

}  // namespace

std::optional<double> seconds_of_two_tier(const StepCosts& costs, const TwoTierMemory& memory,
                                          std::int64_t steps, Planner& planner) {
  constexpr int kMostQuestions = 200'000;
  TwoTierClock clock(costs, memory);
  std::vector<Segment> open;  // from x_first on disk, below the one that is being reversed
  Segment here;
  here.last = steps;
  here.units = memory.units;
  here.disk_slots = memory.disk_slots;
  for (int questions = 0; questions < kMostQuestions;) {
    Placement placement{Place::kRam, 0};
    while (here.last - here.first > 1) {
      ++questions;
      placement = planner.place(here);
      if (placement.place != Place::kDisk && placement.place != Place::kNowhere) break;
      if (placement.place == Place::kDisk) {
        clock.write();
        here.held = Place::kDisk;
        --here.disk_slots;
        continue;
      }
      clock.compute(static_cast<double>(placement.advance) * costs.forward);
      Segment below = here;
      below.last = here.first + placement.advance;
      open.push_back(below);
      here.first = below.last;
      here.held = Place::kNowhere;
    }
    // What is left is reversed from RAM.
    const double began = clock.now();
    const std::int64_t length = here.last - here.first;
    const auto again = length > 1 ? static_cast<double>(planner.advances(here)) : 0.0;
    clock.compute(again * costs.forward + static_cast<double>(length) * costs.adjoint);
    if (open.empty()) return clock.now() - costs.adjoint;  // TURN is no adjoint step
    here = open.back();
    open.pop_back();
    clock.read(began);
  }
  return std::nullopt;
}

double seconds_of_overlapped(const StepCosts& costs, const OverlappedPlan& plan) {
  double seconds = plan.makespan - costs.adjoint;
  for (const OverlapAction& action : plan.actions) {
    if (action.kind == OverlapKind::kWrite) seconds += costs.write_taken;
    if (action.kind == OverlapKind::kRead) seconds += costs.read_taken;
  }
  return seconds;
}

}  // namespace anadrome::schedule

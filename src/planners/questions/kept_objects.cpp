// SPDX-License-Identifier: BSD-2-Clause
#include "planners/questions/kept_objects.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "schedule/stack/mixed.h"
#include "schedule/stack/plain_planners.h"

namespace anadrome::questions {
namespace {

using namespace schedule;

/// Where a tape is the only thing that is kept it is the unit of memory: the mixed schedule with
/// tapes of one unit that restart has no use for states.
class TapesPlanner final : public Planner {
 public:
  explicit TapesPlanner(std::int64_t tape_units) : tape_units_(tape_units), in_tapes_(1, true) {}

  Placement place(const Segment& segment) override {
    if (segment.held == Place::kNowhere && segment.first == 0) return {Place::kRam, 0};
    return in_tapes_.place(counted_in_tapes(segment));
  }
  uint128 advances(const Segment& segment) override {
    return in_tapes_.advances(counted_in_tapes(segment));
  }

 private:
  // x_0 in RAM stays there: it is no tape, and takes a unit from those that others would need.
  Segment counted_in_tapes(Segment segment) const {
    const bool starts = segment.held == Place::kNowhere && segment.first == 0;
    segment.units = (segment.units - (starts ? 1 : 0)) / tape_units_;
    if (starts || segment.held == Place::kRam) segment.held = Place::kDisk;
    return segment;
  }

  std::int64_t tape_units_;
  MixedPlanner in_tapes_;
};

/// x_0 from elsewhere: for StackSweep, a state on disk.
class FreeStartPlanner final : public Planner {
 public:
  explicit FreeStartPlanner(std::unique_ptr<Planner> planner) : planner_(std::move(planner)) {}

  Placement place(const Segment& segment) override {
    if (starts(segment)) return {Place::kDisk, 0};
    return planner_->place(segment);
  }
  uint128 advances(const Segment& segment) override {
    if (!starts(segment)) return planner_->advances(segment);
    Segment kept = segment;
    kept.held = Place::kDisk;
    return planner_->advances(kept);
  }

 private:
  static bool starts(const Segment& segment) {
    return segment.first == 0 && segment.held == Place::kNowhere;
  }

  std::unique_ptr<Planner> planner_;
};

std::unique_ptr<Planner> with_charged_start(const KeptObjects& kept) {
  if (kept.objects == Objects::kStates) return std::make_unique<RevolvePlanner>();
  if (kept.tape_units < 1) {
    throw Error(ANADROME_ERR_ARGUMENT, "a tape that is kept takes at least one unit");
  }
  if (kept.objects == Objects::kMixed) {
    return std::make_unique<MixedPlanner>(kept.tape_units, kept.tape_restarts);
  }
  if (!kept.tape_restarts) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "where only tapes are kept, the tape of a step must hold the state after it");
  }
  return std::make_unique<TapesPlanner>(kept.tape_units);
}

}  // namespace

std::unique_ptr<Planner> planner_for(const KeptObjects& kept) {
  std::unique_ptr<Planner> planner = with_charged_start(kept);
  if (!kept.free_start) return planner;
  return std::make_unique<FreeStartPlanner>(std::move(planner));
}

uint128 forwards_of(std::int64_t steps, std::int64_t units, const KeptObjects& kept) {
  if (steps < 0 || steps > kMostSteps || units < 0) {
    throw Error(ANADROME_ERR_ARGUMENT, "needs 0 <= steps <= 2^62 and units >= 0");
  }
  Segment all;
  all.last = steps;
  all.units = std::min(units, kMostSteps);
  all.disk_slots = 1;
  if (steps > 1 && units < 1 && !kept.free_start) {
    throw Error(ANADROME_ERR_ARGUMENT, "there is no room for x_0");
  }
  const std::unique_ptr<Planner> planner = planner_for(kept);
  return wide(steps) + (steps > 1 ? planner->advances(all) : 0);
}

}  // namespace anadrome::questions

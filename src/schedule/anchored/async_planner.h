// SPDX-License-Identifier: BSD-2-Clause
// schedule=async: anchors at intervals that follow measured times. Until the first write is done
// everywhere, and a step is measured, it probes: a few steps are run, and it asks again.
#pragma once

#include <cstdint>

#include "schedule/anchored/anchored_planner.h"
#include "schedule/anchored/interval_problem.h"

namespace anadrome::schedule {

struct AsyncOptions {
  AnchoredOptions anchored;
  SharedMemory memory;
  std::int64_t prefetch_depth = 0;  ///< before an interval was chosen
  bool may_end_in_ram = true;
  /// Large states: how long a write takes is worth waiting for. Where a block holds many small
  /// states it says little of one.
  bool waits_for_write = true;
};

class AsyncPlanner final : public AnchoredPlanner {
 public:
  explicit AsyncPlanner(const AsyncOptions& options);

  void found(std::int64_t anchors) override { queue_.anchors = found_ = anchors; }
  Next decide(const Segment& here, std::int64_t anchors, const Measured& measured) override;
  std::int64_t prefetch_depth() const override { return depth_; }
  bool rests() const override { return level_ == best_; }

 private:
  bool waits(std::int64_t anchors, const Measured& measured) const;
  bool goes_on_probing(const Segment& here, std::int64_t anchors, const Measured& measured);
  IntervalProblem problem(const Segment& here, std::int64_t anchors,
                          const Measured& measured) const;
  void follow_queue(IntervalProblem& problem);
  void take_level(const IntervalProblem& problem);
  void use(const AsyncPlan& plan);

  AsyncOptions options_;
  std::int64_t depth_;
  bool agreed_for_probe_ = false;  ///< for the decision under way
  std::int64_t found_ = 0;         ///< anchors of an earlier process
  std::int64_t probes_ = 0, probe_steps_ = 1;
  std::int64_t decided_at_ = -1;  ///< the agreement whose times decided
  int level_ = kNoLevel;          ///< of the intervals
  int best_ = kNoLevel;           ///< another one is looked at where level_ differs
  struct Queue {
    std::int64_t step = 0, anchors = 0;  ///< at the decision before
    double length = 0;
  };
  Queue queue_;              ///< of anchors that wait to be written
  std::int64_t pieces_ = 0;  ///< that were measured when it was chosen
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// schedule=async: anchors at intervals that follow measured times. Until the first write is done
// everywhere, and a step is measured, it probes: a few steps are run, and it asks again.
#pragma once

#include <cstdint>

#include "schedule/anchored_planner.h"
#include "schedule/interval.h"

namespace anadrome::schedule {

struct AsyncOptions {
  AnchoredOptions anchored;
  SharedMemory memory;
  std::int64_t prefetch_depth = 0;  ///< before an interval was chosen
  /// An anchor where the last one is on disk on every rank, though not before the planned interval
  /// has passed, and not much later.
  bool greedy = false;
  bool may_end_in_ram = true;
  bool may_try = true;  ///< other intervals; passes would have to do with them
  /// Large states: how long a write takes is worth waiting for. Where a block holds many small
  /// states it says little of one.
  bool waits_for_write = true;
};

class AsyncPlanner final : public AnchoredPlanner {
 public:
  explicit AsyncPlanner(const AsyncOptions& options);

  void found(std::int64_t anchors) override { found_ = anchors; }
  Next decide(const Segment& here, std::int64_t anchors, const Measured& measured) override;
  std::int64_t prefetch_depth() const override { return depth_; }
  bool rests() const override { return !trial_.on(); }

 private:
  enum class Agreed { kNothing, kForProbe, kForGreed };

  bool waits(std::int64_t anchors, const Measured& measured) const;
  bool goes_on_probing(const Segment& here, std::int64_t anchors, const Measured& measured);
  AsyncPlan plan_now(const Segment& here, std::int64_t anchors, const Measured& measured) const;
  void use(const AsyncPlan& plan, const Segment& here, const StepCosts& costs);
  void tries(const AsyncPlan& plan, const Segment& here, const StepCosts& costs);
  Next decide_greedily(const Segment& here, std::int64_t anchors, const Measured& measured);

  /// Another interval than the best one by the times that are known. What a longer one takes tells
  /// a step that transfers slow from a slow one; in shorter ones a write follows another at once,
  /// and may take less time than one that finds the disk idle.
  struct Trial {
    std::int64_t interval = 0;
    std::int64_t left = 0;  ///< intervals to come
    std::int64_t back = 0;  ///< of these, the last ones, that are the plan's again
    std::int64_t seen = 0;  ///< intervals of the plan, measured since the last trial
    std::int64_t due = 0;   ///< so many before the next one; 0: not decided
    bool shorter = false;
    bool on() const { return interval > 0; }
  };
  std::int64_t shorter_than(const AsyncPlan& plan, const StepCosts& costs) const;
  Trial next_trial(const AsyncPlan& plan, const Segment& here, const StepCosts& costs) const;
  bool fits(const Trial& trial, const AsyncPlan& plan, const Segment& here,
            const StepCosts& costs) const;

  AsyncOptions options_;
  std::int64_t depth_;
  Agreed agreed_ = Agreed::kNothing;  ///< for the decision under way
  std::int64_t found_ = 0;            ///< anchors of an earlier process
  std::int64_t probes_ = 0, probe_steps_ = 1;
  std::int64_t decided_at_ = -1;      ///< the agreement whose times decided
  AsyncPlan plan_ = {.interval = 0};  ///< in force but for trials
  Trial trial_;
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The sweep that plays a list, a plan of overlapped.h: each transfer has its place between the
// steps.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/lists/overlapped.h"
#include "planners/lists/state_places.h"
#include "schedule/words/rules.h"
#include "schedule/words/sweep.h"

namespace anadrome::schedule {

/// A planned action; `kept`: what it is about, if it has a slot.
Action action_of(const OverlapAction& planned, const Kept& kept);

/// The times of a plan; with `record` an adjoint step runs its step once more.
OverlapTimes overlap_times(const StepCosts& costs, bool record);

struct ListOptions {
  std::int64_t steps = 0;                ///< n < kMostOverlappedSteps
  std::int64_t slots = 1;                ///< states in RAM, those being written or read included
  std::int64_t most_on_disk = kNoLimit;  ///< states on disk at a time, x_0 included; >= 1
  bool record = false;                   ///< the adjoint of a step needs its tape
  /// Sizes of x_0 .. x_{n-1}, and of x_n where TURN is a step, if there are several: `slots` is
  /// then the memory in their unit, and the actions say where in it a state lies.
  std::vector<std::int64_t> units = {};
};

/// The plan found to take the least time: TURN counts as the first adjoint, and with tapes the
/// recording step as part of the adjoint. Its states have places (state_places.h), and the disk
/// holds those that are there. Throws as the constructor below; may lack the memory.
OverlappedPlan list_plan(const ListOptions& options, const OverlapTimes& times,
                         OverlapSearch search = OverlapSearch::kThorough);

class ListSweep final : public Sweep {
 public:
  /// The sweep begins at x_0, live. `plan`: one whose states have places. Throws ERR_ARGUMENT on
  /// options that make no sense.
  ListSweep(const ListOptions& options, OverlappedPlan plan);

  Action next() override;

  std::int64_t advances_remaining() const override { return done_ ? 0 : advances_; }
  Course course() const override {
    return {.steps = options_.steps, .adjoints_left = turned_ ? to_adjoin_ : options_.steps};
  }

 private:
  Action play(const OverlapAction& action);
  Action adjoint_action();
  Action end_action();
  Action advance(std::int64_t to, bool record);
  void note_plan();

  ListOptions options_;
  StateUnits units_;
  std::int64_t chain_;  ///< steps of a plan: n, and TURN where it is one of them
  bool turned_ = false, done_ = false;
  bool recorded_ = false;               ///< the tape of the step to be adjoined is in the fields
  std::int64_t live_ = 0;               ///< step of the live state; kUnknown if undefined
  std::int64_t run_before_ = 0;         ///< steps below this one were run at least once
  std::int64_t to_adjoin_ = 0;          ///< adjoint steps to come
  std::int64_t advances_ = 0;           ///< in the actions to come
  std::vector<OverlapAction> actions_;  ///< the plan, with places of state_places.h
  std::size_t at_ = 0;                  ///< index of the next action
  std::size_t x_0_dropped_ = 0;         ///< the last drop of x_0: it stays, for DONE
  OverlapAction x_0_arrives_;           ///< the place of x_0 then
};

RuleOptions rules_of(const ListOptions& options);

}  // namespace anadrome::schedule

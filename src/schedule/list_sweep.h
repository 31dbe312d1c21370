// SPDX-License-Identifier: BSD-2-Clause
// The sweep that plays a list, a plan of overlapped.h: each transfer has its place between the
// steps. Times decide on the plan, so they are asked for (Decide) when x_0 was written and some
// steps were run, unless they are known before.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "schedule/overlap_recovery.h"
#include "schedule/overlapped.h"
#include "schedule/state_places.h"
#include "schedule/sweep.h"

namespace anadrome::schedule {

/// The times of a plan, from those of a run; with `record` an adjoint step runs its step once more.
OverlapTimes overlap_times(const StepCosts& costs, bool record);
/// Do times that were measured still ask for the plan that was made for others?
bool times_hold(const OverlapTimes& planned, const OverlapTimes& measured);

/// A plan of another planner, whose states have places (state_places.h), and the times that it was
/// made for. NULL: none.
struct OtherPlan {
  const OverlappedPlan* plan = nullptr;
  OverlapTimes times;
};

struct ListOptions {
  std::int64_t steps = 0;                ///< n < kMostOverlappedSteps
  std::int64_t slots = 1;                ///< states in RAM, those being written or read included
  std::int64_t most_on_disk = kNoLimit;  ///< states on disk at a time, x_0 included; >= 1
  bool record = false;                   ///< the adjoint of a step needs its tape
  bool may_search = true;                ///< thoroughly, where that takes a small part of the sweep
  bool always_searches = false;          ///< ... and whatever it takes: times are in any unit
  /// Sizes of x_0 .. x_{n-1}, and of x_n where TURN is a step, if there are several: `slots` is
  /// then the memory in their unit, and the actions say where in it a state lies.
  std::vector<std::int64_t> units = {};
  /// Asked for a plan of as many steps and slots, before the first action. NULL: there is no other.
  std::function<OtherPlan(const OverlapTimes&)> other_plan = nullptr;
  const char* plan_name = "the plan of schedule=overlapped";
};

/// At most, what a plan of so many steps takes, and what making it takes; and a thorough search.
std::int64_t overlapped_bytes(std::int64_t steps);
inline constexpr std::int64_t kOverlapSearchBytes = std::int64_t{128} << 20;

class ListSweep final : public Sweep {
 public:
  /// The sweep begins at x_0, live. Throws ERR_ARGUMENT on options that make no sense.
  explicit ListSweep(const ListOptions& options);

  Action next() override;

  /// Steps are run until the write of x_0 is done everywhere.
  Next decide(const Measured& measured) override;
  /// Before the first action, or the answer to Decide: from here on, what is best with these times.
  /// TURN counts as the first adjoint, and with tapes the recording step as part of the adjoint.
  /// Throws as plan_overlapped does; may lack the memory.
  void plan(const OverlapTimes& times);
  void plan(const Measured& measured) override {
    plan(overlap_times(measured.costs, options_.record));
  }
  /// The other answer to Decide: ask again after `steps`, or at the end of the forward sweep.
  void probe(std::int64_t steps);
  bool at_forward_end() const { return live_ == chain_ - 1; }
  /// From the beginning where no state has to be written.
  bool planned() const { return planned_; }
  std::int64_t fingerprint() const override;
  std::string outdated(const StepCosts& measured) const override;

  bool can_rewind() const override { return done_; }
  void rewind(std::int64_t restorable) override;
  std::optional<Remains> remains() override;

  Course course() const override {
    return {.steps = options_.steps, .plans_anew = !planned_, .plan_name = options_.plan_name};
  }
  /// The plan is given up: what is left is reversed by Revolve from all states that are in memory
  /// or on disk.
  bool lose(std::int64_t number) override;
  /// Likewise. The state that was written last is in memory only.
  void disk_is_full(const DiskLeft& left) override;
  std::int64_t advances_remaining() const override;
  std::int64_t adjoints_remaining() const override { return turned_ ? to_adjoin_ : options_.steps; }

 private:
  enum class Opening { kKeep, kWrite, kAdvance, kAsked };

  Action opening_action();
  Action play(const OverlapAction& action);
  Action adjoint_action();
  Action end_action();
  Action advance(std::int64_t to, bool record);
  bool recover_from(const StatesLeft& left);
  bool plan_of_another(const OverlapTimes& times);
  void plan_from(std::int64_t begun, const OverlapTimes& times);
  std::int64_t largest_states_held() const { return options_.slots / units_.largest(); }
  void use_slots(OverlappedPlan plan, std::int64_t begun);
  void use(OverlappedPlan plan, std::int64_t begun);
  void note_plan();
  bool is_last_stay_of_x_0(std::size_t action) const { return action == x_0_dropped_; }

  ListOptions options_;
  StateUnits units_;
  std::int64_t chain_;         ///< steps of a plan: n, and TURN where it is one of them
  std::int64_t probe_to_ = 1;  ///< step of the next Decide
  std::int64_t probe_steps_ = 1;
  bool agreed_ = false;  ///< the times are fresh
  Opening opening_ = Opening::kKeep;
  bool planned_ = false, turned_ = false, done_ = false;
  bool recorded_ = false;               ///< the tape of the step to be adjoined is in the fields
  std::int64_t live_ = 0;               ///< step of the live state; kUnknown if undefined
  std::int64_t run_before_ = 0;         ///< steps below this one were run at least once
  std::int64_t to_adjoin_ = 0;          ///< adjoint steps to come
  std::int64_t advances_ = 0;           ///< in the actions to come
  std::vector<OverlapAction> actions_;  ///< the plan, with places of overlap_places.h
  std::size_t at_ = 0;                  ///< index of the next action
  std::size_t x_0_dropped_ = 0;         ///< the last drop of x_0: it stays, for DONE and rewind
  OverlapAction x_0_arrives_;           ///< the place of x_0 then
  OverlapAction x_0_before_;            ///< its place when a rewind begins
  enum class Back { kNo, kRestore, kDrop } back_ = Back::kNo;
  std::int64_t states_on_disk_ = 0;
  OverlapTimes planned_for_;
};

}  // namespace anadrome::schedule

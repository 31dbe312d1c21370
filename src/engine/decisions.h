// What a schedule asks for on the way (kDecide), answered from measured times: the interval between
// anchors, or a plan. The answer follows from what all ranks agreed on, so it is the same on all.
#pragma once

#include <cstdint>
#include <string>

#include "engine/keeper.h"
#include "engine/meeting.h"
#include "engine/planning.h"

namespace anadrome::engine {

class Decisions {
 public:
  Decisions(Agreement& agreement, Meeting& meeting, Held& held, const Options& options,
            Measurements& measured, Planning& planning, Keeper& keeper, SweepPlan& plan,
            SweepState& sweep)
      : agreement_(agreement),
        meeting_(meeting),
        held_(held),
        options_(options),
        measured_(measured),
        planning_(planning),
        keeper_(keeper),
        plan_(plan),
        sweep_(sweep) {}

  /// Answers the schedule. Collective.
  void decide();
  /// Another reverse sweep of a list of transfers, planned anew. Collective.
  void rewind_list();
  /// Nothing if the times held that the plan rests on.
  std::string outdated_plan() const;

 private:
  schedule::Sequence& sequence() { return *plan_.script->sequence(); }
  bool waits_for_first_write() const;
  schedule::AsyncPlan plan_intervals() const;
  void use_interval(const schedule::AsyncPlan& plan);
  void decide_greedily();
  void decide_late();
  void decide_list();
  void agree_on_list(const Failure& failure);

  Agreement& agreement_;
  Meeting& meeting_;
  Held& held_;
  const Options& options_;
  Measurements& measured_;
  Planning& planning_;
  Keeper& keeper_;
  SweepPlan& plan_;
  SweepState& sweep_;
};

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// The questions of a schedule on the way (Decide): the agreements that an answer needs. The
// schedule gives the answer, from the times on which all ranks agree, so it is the same on all.
#pragma once

#include <cstdint>

#include "engine/keep/keeper.h"
#include "engine/plan/planning.h"
#include "engine/ranks/meeting.h"

namespace anadrome::engine {

class Decisions {
 public:
  Decisions(Peers& peers, Meeting& meeting, Play& play, Measurements& measured, Planning& planning,
            Keeper& keeper)
      : agreement_(peers.agreement),
        meeting_(meeting),
        held_(peers.held),
        measured_(measured),
        planning_(planning),
        keeper_(keeper),
        plan_(play.plan),
        sweep_(play.sweep) {}

  /// Answers the schedule. Collective.
  void decide();
  /// Another reverse sweep; `restorable` anchors are left.
  void rewind(std::int64_t restorable);

 private:
  schedule::Measured measured() const;
  void use_memory();

  Agreement& agreement_;
  Meeting& meeting_;
  Held& held_;
  Measurements& measured_;
  Planning& planning_;
  Keeper& keeper_;
  SweepPlan& plan_;
  SweepState& sweep_;
};

}  // namespace anadrome::engine

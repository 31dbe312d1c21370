// SPDX-License-Identifier: BSD-2-Clause
// schedule=auto: every state if they fit, else what keeps states on disk while the solver computes.
// The choice follows from options, steps and slots, which all ranks share.
#pragma once

#include "engine/plan/planning.h"

namespace anadrome::engine {

class Choice {
 public:
  Choice(Peers& peers, const Asked& asked, Planning& planning)
      : held_(peers.held), options_(asked.options), planning_(planning) {}

  /// The schedule of `plan`, and why (SweepState::chosen). Collective.
  void choose(SweepPlan& plan, SweepState& sweep);

 private:
  Held& held_;
  const Options& options_;
  Planning& planning_;
};

}  // namespace anadrome::engine

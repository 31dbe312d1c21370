// SPDX-License-Identifier: BSD-2-Clause
// schedule=auto: every state if they fit, else what keeps states on disk while the solver computes.
// The choice follows from options, steps and slots, which all ranks share.
#pragma once

#include "engine/context.h"
#include "engine/planning.h"

namespace anadrome::engine {

class Choice {
 public:
  Choice(Context& context, Planning& planning)
      : agreement_(context.agreement),
        held_(context.held),
        options_(context.options),
        fields_(context.fields),
        planning_(planning) {}

  /// The schedule of `plan`, and why (SweepState::chosen). Collective.
  void choose(SweepPlan& plan, SweepState& sweep);

 private:
  const char* reason_for_files(const SweepPlan& plan) const;

  Agreement& agreement_;
  Held& held_;
  const Options& options_;
  const Fields& fields_;
  Planning& planning_;
};

}  // namespace anadrome::engine

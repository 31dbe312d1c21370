// SPDX-License-Identifier: BSD-2-Clause
// Single steps that are run again in the reverse sweep, for the comparison alone: where every state
// is kept, nothing else would show that a step depends on more than the registered fields. An
// adjoint step that depends on it, too, would be taken with what that is at a later time.
//
// Before the adjoint step of x_{k+1} its fingerprint is taken; before that of x_k step k is run
// again, and x_k is restored, which is kept in memory. That happens in a run's first reverse sweep
// after about 1, 4, 16, 64, ... adjoint steps.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/keep/keeper.h"
#include "engine/sweep/context.h"
#include "engine/verify/comparison.h"

namespace anadrome::engine {

class SpotChecks {
 public:
  SpotChecks(Peers& peers, const Fields& fields, Play& play, const Measurements& measured,
             Keeper& keeper, Comparison& comparison)
      : peers_(peers),
        fields_(fields),
        play_(play),
        measured_(measured),
        keeper_(keeper),
        comparison_(comparison) {}

  /// Before a sweep's first action.
  void begin();
  /// Is a step being run again?
  bool repeats() const { return repeats_; }
  /// x_step is live, for its adjoint step. True: again() comes before that. Collective where it was
  /// chosen.
  bool before_adjoint(std::int64_t step) { return on_ && is_chosen(step); }
  schedule::Advance again() const { return {step_, step_ + 1, 0, false, true}; }
  /// The step came back. Collective.
  void compare();

 private:
  bool is_chosen(std::int64_t step);
  bool start(std::int64_t step);
  Fingerprints first() { return Fingerprints(prints_).first(comparison_.fields()); }
  Fingerprints now() { return Fingerprints(prints_).last(comparison_.fields()); }

  Peers& peers_;
  const Fields& fields_;
  Play& play_;
  const Measurements& measured_;
  Keeper& keeper_;
  Comparison& comparison_;
  bool on_ = false;
  std::size_t compared_fields_ = 0;  ///< the fields that there were in a sweep that compared some
  std::int64_t due_ = 0;             ///< after so many adjoint steps
  std::int64_t compared_ = 0;        ///< states, in this sweep
  std::int64_t step_ = -1;           ///< x_{step+1} has its fingerprint in first(); -1: none
  bool repeats_ = false;
  std::vector<Fingerprint> prints_;
};

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// Ways over a trajectory that was swept: a rewind, and passes forward and in reverse. All ranks
// agree that they begin the same one, and that each can.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <memory>

#include "engine/keep/keeper.h"
#include "engine/plan/decisions.h"
#include "engine/plan/planning.h"
#include "engine/report/report.h"
#include "engine/sweep/context.h"
#include "schedule/words/sweep.h"

namespace anadrome::engine {

class Passes {
 public:
  Passes(Agreement& agreement, const Asked& asked, Play& play, Warnings& warnings,
         const Planning& planning, Keeper& keeper, Decisions& decisions, Report& report)
      : agreement_(agreement),
        asked_(asked),
        play_(play),
        warnings_(warnings),
        planning_(planning),
        keeper_(keeper),
        decisions_(decisions),
        report_(report) {}

  /// Collective; after DONE, as begin.
  void rewind();
  /// `earlier`: what this rank found wrong before; every rank gets it. Collective.
  void begin(anadrome_direction direction, const Failure& earlier);
  /// At DONE of a pass. Collective.
  void done();

 private:
  Failure why_not(const char* call) const;
  std::unique_ptr<schedule::Sweep> machine() const;
  std::int64_t agree(Call call, const Failure& failure, std::int64_t direction);
  void goes_on(anadrome_phase phase);

  Agreement& agreement_;
  const Asked& asked_;
  Play& play_;
  Warnings& warnings_;
  const Planning& planning_;
  Keeper& keeper_;
  Decisions& decisions_;
  Report& report_;
};

}  // namespace anadrome::engine

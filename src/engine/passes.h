// SPDX-License-Identifier: BSD-2-Clause
// Ways over a trajectory that was swept: a rewind, and passes forward and in reverse. All ranks
// agree that they begin the same one, and that each can.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <memory>

#include "engine/context.h"
#include "engine/decisions.h"
#include "engine/keeper.h"
#include "engine/planning.h"
#include "engine/report.h"
#include "engine/storage.h"
#include "schedule/sweep.h"

namespace anadrome::engine {

class Passes {
 public:
  Passes(Context& context, const Storage& storage, Planning& planning, Keeper& keeper,
         Decisions& decisions, Report& report)
      : context_(context),
        storage_(storage),
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
  std::int64_t stride_forward() const;
  void goes_on(anadrome_phase phase);

  Context& context_;
  const Storage& storage_;
  Planning& planning_;
  Keeper& keeper_;
  Decisions& decisions_;
  Report& report_;
};

}  // namespace anadrome::engine

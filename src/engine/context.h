// SPDX-License-Identifier: BSD-2-Clause
// The parts of a run share a context: ranks, options, fields, times, and the sweep under way.
#pragma once

#include "engine/agreement.h"
#include "engine/fields.h"
#include "engine/held.h"
#include "engine/measurements.h"
#include "engine/options.h"
#include "engine/recorder.h"
#include "engine/sweep_plan.h"
#include "engine/sweep_state.h"
#include "engine/warnings.h"

namespace anadrome::engine {

struct Context {
  /// Duplicates `comm`. Collective.
  explicit Context(MPI_Comm comm) : agreement(comm) {}
  /// Other ranks than MPI's, which outlive it.
  explicit Context(Ranks& ranks) : agreement(ranks) {}

  Agreement agreement;
  Held held;
  Options options;  ///< in force: compared between ranks at begin, and not changed until the next
  Fields fields;
  Measurements measured;
  SweepState sweep;
  SweepPlan plan;
  Recorder recorder;
  Warnings warnings{agreement.rank() == 0, options, sweep};
};

}  // namespace anadrome::engine

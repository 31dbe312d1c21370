// SPDX-License-Identifier: BSD-2-Clause
// The parts of a run share a context, in four groups: a part is handed those, or what of them, it
// uses.
#pragma once

#include "engine/asked/fields.h"
#include "engine/asked/options.h"
#include "engine/ranks/agreement.h"
#include "engine/ranks/held.h"
#include "engine/sweep/measurements.h"
#include "engine/sweep/recorder.h"
#include "engine/sweep/sweep_plan.h"
#include "engine/sweep/sweep_state.h"
#include "engine/sweep/warnings.h"

namespace anadrome::engine {

/// The ranks of the run, and what this one has to tell the others.
struct Peers {
  /// Duplicates `comm`. Collective.
  explicit Peers(MPI_Comm comm) : agreement(comm) {}
  /// Other ranks than MPI's, which outlive it.
  explicit Peers(Ranks& ranks) : agreement(ranks) {}

  Agreement agreement;
  Held held;
};

/// By the program.
struct Asked {
  Options options;  ///< in force: compared between ranks at begin, and not changed until the next
  Fields fields;
};

/// The sweep that is played: what was decided of it, and how far it is.
struct Play {
  SweepPlan plan;
  SweepState sweep;
};

/// What is measured on the way, and what people read of it.
struct Notes {
  Notes(bool first_rank, const Options& options, SweepState& sweep)
      : warnings(first_rank, options, sweep) {}

  Measurements measured;
  Recorder recorder;
  Warnings warnings;
};

struct Context {
  explicit Context(MPI_Comm comm) : peers(comm) {}
  explicit Context(Ranks& ranks) : peers(ranks) {}

  Peers peers;
  Asked asked;
  Play play;
  Notes notes{peers.agreement.rank() == 0, asked.options, play.sweep};
};

}  // namespace anadrome::engine

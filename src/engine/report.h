// The report on a sweep: statistics, its end as predicted, the progress line, the summary and the
// trace.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <string>

#include "engine/context.h"
#include "engine/keeper.h"
#include "engine/planning.h"
#include "engine/why.h"

namespace anadrome::engine {

class Report {
 public:
  Report(Context& context, const Planning& planning, const Storage& storage, const Keeper& keeper)
      : agreement_(context.agreement),
        options_(context.options),
        measured_(context.measured),
        planning_(planning),
        storage_(storage),
        keeper_(keeper),
        plan_(context.plan),
        sweep_(context.sweep),
        recorder_(context.recorder),
        warnings_(context.warnings) {}

  anadrome_stats statistics() const;
  /// Once so many steps are done that SweepState::prediction is due.
  void predict();
  void show_progress(double now);
  /// Rank 0 writes the summary, if its option says so. Collective.
  void summarise() const;
  /// Collective.
  void write_trace();

 private:
  SweepCosts costs() const;
  std::int64_t advances_to_come() const;
  std::string describe_memory(std::int64_t peak) const;

  const Agreement& agreement_;
  const Options& options_;
  const Measurements& measured_;
  const Planning& planning_;
  const Storage& storage_;
  const Keeper& keeper_;
  const SweepPlan& plan_;
  SweepState& sweep_;
  Recorder& recorder_;
  Warnings& warnings_;
};

}  // namespace anadrome::engine

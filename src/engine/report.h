// SPDX-License-Identifier: BSD-2-Clause
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

/// Throws where a file that rank 0 writes at DONE could not be written. Leaves none.
void require_files(const Options& options);
/// Their paths lead there wherever the program goes.
void fix_files(Options& options);

struct Reduced;

class Report {
 public:
  Report(Context& context, Planning& planning, const Storage& storage, const Keeper& keeper)
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
  /// The summary and the trace, by rank 0, if the options want them. A file that cannot be written
  /// now is worth a warning, and no sweep. Collective.
  void write();
  /// A pass is done: a line below the summary, and the trace anew. Collective.
  void write_pass();

 private:
  void summarise();
  void add_line_of_pass() const;
  void put_in_report(const std::string& text, int flags) const;
  void write_trace();
  store::TransferTotals moved(int volume) const;
  std::string volumes(std::int64_t fast_written, std::int64_t fast_read, const Reduced& all) const;
  void warn_of(const Failure& failure);
  SweepCosts costs(double forward) const;
  double mean_forward() const;
  double mean_adjoint() const;
  double slowed() const;
  Outlook outlook(std::int64_t steps);
  std::string plan_command(const anadrome_stats& stats) const;
  std::int64_t advances_to_come() const;
  std::string describe_memory(std::int64_t peak) const;

  const Agreement& agreement_;
  const Options& options_;
  const Measurements& measured_;
  Planning& planning_;
  const Storage& storage_;
  const Keeper& keeper_;
  const SweepPlan& plan_;
  SweepState& sweep_;
  Recorder& recorder_;
  Warnings& warnings_;
};

}  // namespace anadrome::engine

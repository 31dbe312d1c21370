// SPDX-License-Identifier: BSD-2-Clause
// The report on a sweep: statistics, its end as predicted, the progress line, the summary and the
// trace.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <string>

#include "engine/keep/keeper.h"
#include "engine/plan/planning.h"
#include "engine/report/why.h"
#include "engine/sweep/context.h"

namespace anadrome::engine {

/// Throws where a file that rank 0 writes at DONE could not be written. Leaves none.
void require_files(const Options& options);

struct Reduced;

class Report {
 public:
  Report(Agreement& agreement, const Options& options, Play& play, Notes& notes, Planning& planning,
         const Storage& storage, const Keeper& keeper)
      : agreement_(agreement),
        options_(options),
        measured_(notes.measured),
        planning_(planning),
        storage_(storage),
        keeper_(keeper),
        plan_(play.plan),
        sweep_(play.sweep),
        recorder_(notes.recorder),
        warnings_(notes.warnings) {}

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
  void count_steps(anadrome_stats& stats) const;
  std::string undone(const anadrome_stats& stats) const;
  void summarise();
  void add_line_of_pass() const;
  void put_in_report(const std::string& text, int flags) const;
  void write_trace();
  store::TransferTotals moved(int volume) const;
  std::string volumes(const Reduced& all) const;
  void warn_of(const Failure& failure);
  double guessed_adjoint(double forward) const;
  SweepCosts costs(double forward) const;
  double mean_forward() const;
  double mean_adjoint() const;
  double slowed() const;
  Outlook outlook(std::int64_t steps);
  std::string plan_command(const anadrome_stats& stats) const;
  std::int64_t advances_to_come() const;
  std::string describe_memory(std::int64_t peak) const;

  Agreement& agreement_;
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

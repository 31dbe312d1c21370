// SPDX-License-Identifier: BSD-2-Clause
// The lines of -ts_trajectory_view: the plan, and what was done.
#include <sstream>

#include "api/petsc/trajectory.h"
#include "base/byte_size.h"

namespace anadrome::petsc {
namespace {

std::string text_of_run(const Sweep& sweep) {
  anadrome_stats stats{};
  stats.size = sizeof stats;
  anadrome_statistics(sweep.run(), &stats);
  const std::string aside = format_bytes(sweep.set_aside()) + " that are set aside\n";
  if (!sweep.begun()) {
    return "every record of " + std::to_string(sweep.steps()) +
           " steps is kept in memory; there is room for " + std::to_string(sweep.most_kept()) +
           " of them beside the " + aside;
  }
  // The library is told when it is asked for a record, and where all are kept in full it never is.
  const bool told = stats.steps >= 0, ended = told || sweep.on_the_way_back();
  const std::int64_t before = sweep.steps_before_library();
  std::string text = std::string("schedule ") + stats.schedule + ", " +
                     counted(told ? stats.steps : sweep.steps() - before, "step") +
                     (ended ? "" : " so far") + ", " + format_bytes(stats.state_bytes) +
                     " a state, " + format_bytes(stats.memory_bytes) + " of memory beside the " +
                     aside;
  if (before > 0)
    text += std::to_string(before) + " steps before them, with all states in memory\n";
  text += "checkpoints in memory: " + std::to_string(stats.checkpoint_slots) + " at most\n";
  if (stats.interval > 0) {
    text += "checkpoints for disk: " + std::to_string(stats.anchors) + ", one every " +
            (stats.interval == 1 ? "step" : counted(stats.interval, "step"));
    if (stats.interval > 1) text += " at the end";
    if (stats.bytes_written <= 0) text += "; none was written";
    text += "\n";
  }
  return text + "written " + format_bytes(stats.bytes_written) + ", read " +
         format_bytes(stats.bytes_read) + "; waited " +
         format_seconds(stats.seconds_stalled_write) + " for writes, " +
         format_seconds(stats.seconds_stalled_read) + " for reads\n";
}

// What a step depends on beside the solution shows where steps are run twice, and nowhere else.
std::string text_of_comparisons(const Trajectory& trajectory) {
  const std::int64_t steps = trajectory.sweep.steps_compared();
  if (trajectory.settings.audit() == "off") return "compared nothing: audit is off\n";
  if (steps > 0) return "compared " + counted(steps, "step") + " with their first run\n";
  return "compared nothing: no step was run twice\n";
}

}  // namespace

PetscErrorCode report_kept(TSTrajectory tj) {
  const std::string path = settings_of(tj).value_or_environment("report");
  PetscMPIInt rank = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm_of(tj), &rank));
  if (rank != 0 || path.empty() || path == "off") PetscFunctionReturn(PETSC_SUCCESS);
  PetscViewer viewer = nullptr;
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_SELF, path == "-" ? "stdout" : path.c_str(), &viewer));
  PetscCall(view_trajectory(tj, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode count_transfers(TSTrajectory tj) {
  const Trajectory& trajectory = data_of(tj);
  anadrome_stats stats{};
  stats.size = sizeof stats;
  PetscFunctionBegin;
  if (trajectory.sweep.run() == nullptr) PetscFunctionReturn(PETSC_SUCCESS);
  anadrome_statistics(trajectory.sweep.run(), &stats);
  tj->diskwrites = static_cast<PetscInt>(stats.states_written);
  tj->diskreads = static_cast<PetscInt>(stats.states_read);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A line more of the library's summary, which knows its own memory alone.
PetscErrorCode Sweep::report_shares() const {
  PetscMPIInt rank = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm_, &rank));
  if (rank != 0 || report_.empty() || report_ == "off") PetscFunctionReturn(PETSC_SUCCESS);
  std::FILE* const file = report_ == "-" ? stdout : std::fopen(report_.c_str(), "a");
  if (file == nullptr) PetscFunctionReturn(PETSC_SUCCESS);  // the library said so
  std::fprintf(
      file,
      "  plugin     of %s asked for, %s are set aside for records in full; what the program "
      "has set, above, was the plugin\n",
      format_bytes(shares_.memory).c_str(), format_bytes(shares_.aside).c_str());
  if (file != stdout) std::fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_trajectory(TSTrajectory tj, PetscViewer viewer) {
  const Trajectory& trajectory = data_of(tj);
  PetscBool ascii = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(
      PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (ascii == PETSC_FALSE) PetscFunctionReturn(PETSC_SUCCESS);
  const KeptRecords& kept = trajectory.kept;
  std::stringstream text;
  text << "anadrome " << anadrome_version() << ", numbers of rank 0\n";
  if (trajectory.sweep.run() != nullptr) text << text_of_run(trajectory.sweep);
  text << trajectory.sweep.steps_run_again() << " steps run again; " << kept.count()
       << " records kept in full, " << format_bytes(kept.bytes()) << " of "
       << format_bytes(kept.limit()) << "\n"
       << text_of_comparisons(trajectory);
  // PETSc sets every call in by the viewer's tabs.
  for (std::string line; std::getline(text, line);)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", line.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

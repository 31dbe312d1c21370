// SPDX-License-Identifier: BSD-2-Clause
// The lines of -ts_trajectory_view: the plan, and what was done.
#include "api/petsc/trajectory.h"
#include "base/byte_size.h"

namespace anadrome::petsc {
namespace {

PetscErrorCode view_run(const Sweep& sweep, const Settings& settings, PetscViewer viewer) {
  anadrome_stats stats{};
  stats.size = sizeof stats;
  PetscFunctionBegin;
  anadrome_statistics(sweep.run(), &stats);
  if (!sweep.begun()) {
    PetscCall(PetscViewerASCIIPrintf(
        viewer,
        "every record of %lld steps is kept in memory; there is room for %lld of them beside the "
        "%s that are set aside\n",
        static_cast<long long>(sweep.steps()), static_cast<long long>(sweep.most_kept()),
        format_bytes(sweep.set_aside()).c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // The library is told when it is asked for a record, and where all are kept in full it never is.
  const bool told = stats.steps >= 0, ended = told || sweep.on_the_way_back();
  const auto steps =
      static_cast<long long>(told ? stats.steps : sweep.steps() - sweep.steps_before_library());
  PetscCall(PetscViewerASCIIPrintf(
      viewer,
      "schedule %s, %lld step%s%s, %s a state, %s of memory beside the %s that are set aside\n",
      stats.schedule, steps, steps == 1 ? "" : "s", ended ? "" : " so far",
      format_bytes(stats.state_bytes).c_str(), format_bytes(stats.memory_bytes).c_str(),
      format_bytes(sweep.set_aside()).c_str()));
  if (sweep.steps_before_library() > 0) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "%lld steps before them, with all states in memory\n",
                                     static_cast<long long>(sweep.steps_before_library())));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "checkpoints in memory: %lld at most\n",
                                   static_cast<long long>(stats.checkpoint_slots)));
  if (stats.interval > 0) {
    const std::string apart = stats.interval == 1 ? "step" : counted(stats.interval, "step");
    const bool spread = settings.anchors <= 0 || settings.stride > 0 || settings.steps > 0;
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "checkpoints for disk: %lld, one every %s%s%s\n",
        static_cast<long long>(stats.anchors), apart.c_str(),
        stats.bytes_written > 0 ? "" : "; none was written",
        spread || stats.anchors < settings.anchors
            ? ""
            : "; the first steps took all that are allowed: -ts_trajectory_stride spreads them"));
  }
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "written %s, read %s; waited %s for writes, %s for reads\n",
      format_bytes(stats.bytes_written).c_str(), format_bytes(stats.bytes_read).c_str(),
      format_seconds(stats.seconds_stalled_write).c_str(),
      format_seconds(stats.seconds_stalled_read).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What a step depends on beside the solution shows where steps are run twice, and nowhere else.
PetscErrorCode view_compared(const Trajectory& trajectory, PetscViewer viewer) {
  const std::int64_t steps = trajectory.sweep.steps_compared();
  PetscFunctionBegin;
  if (trajectory.settings.audit() == "off") {
    PetscCall(PetscViewerASCIIPrintf(viewer, "compared nothing: audit is off\n"));
  } else if (steps > 0) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "compared %s with their first run\n",
                                     counted(steps, "step").c_str()));
  } else {
    PetscCall(PetscViewerASCIIPrintf(
        viewer,
        "compared nothing: no step was run twice; -ts_trajectory_anadrome_preflight 2 asks for "
        "it\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode report_kept(TSTrajectory tj) {
  const std::string path = settings_of(tj).value_or_environment("report");
  PetscMPIInt rank = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm(reinterpret_cast<PetscObject>(tj)), &rank));
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
  PetscCall(PetscViewerASCIIPrintf(viewer, "anadrome %s, numbers of rank 0\n", anadrome_version()));
  if (trajectory.sweep.run() != nullptr)
    PetscCall(view_run(trajectory.sweep, trajectory.settings, viewer));
  PetscCall(
      PetscViewerASCIIPrintf(viewer, "%lld steps run again; %zu records kept in full, %s of %s\n",
                             static_cast<long long>(trajectory.sweep.steps_run_again()),
                             trajectory.kept.count(), format_bytes(trajectory.kept.bytes()).c_str(),
                             format_bytes(trajectory.kept.limit()).c_str()));
  PetscCall(view_compared(trajectory, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

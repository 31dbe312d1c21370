// SPDX-License-Identifier: BSD-2-Clause
// The settings of the user: options of the library by their names, and PETSc's own words for
// numbers of checkpoints.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/petsc/records/petsc_private.h"

namespace anadrome::petsc {

/// One of the library's options, offered as -ts_trajectory_anadrome_<name>.
struct Key {
  const char* name;
  const char* byDefault;
  const char* meaning;
};

inline constexpr std::array kKeys = {
    Key{"memory", "1GiB", "bytes per rank for everything that is held"},
    Key{"directory", ".", "where the files go; before -ts_trajectory_dirname"},
    Key{"name", "", "directory of this run in it; unique if not given"},
    Key{"wait_for_lock", "0", "seconds to wait for another run of that name to end"},
    Key{"schedule", "auto", "auto, store_all, revolve, async; mixed with steps"},
    Key{"interval", "auto", "async: steps between anchors"},
    Key{"checkpoints", "unlimited", "states in memory the schedule counts on, at most"},
    Key{"layout", "shared", "shared, node or rank: one file for all ranks, a node, a rank"},
    Key{"transport", "auto",
        "O_DIRECT where there is (auto), direct, buffered; mpio: parallel HDF5, no overlap"},
    Key{"disk", "unlimited", "bytes on disk, all ranks together"},
    Key{"bandwidth_limit", "none", "bytes per second of reading and of writing, per rank"},
    Key{"compress", "off", "states on disk, without loss: lz4"},
    Key{"keep", "off", "leave the files; -ts_trajectory_keep_files is the same"},
    Key{"progress", "off", "a progress line on rank 0"},
    Key{"trace", "off", "what every rank did when, to this file (Chrome trace JSON)"},
    Key{"report", "off", "a summary at the end: - or a file"},
    Key{"watchdog", "0",
        "seconds after which a rank that does not answer is named; 60,abort: ends the job, too"},
    Key{"resume", "off", "on: go on where a killed run of this name was"},
    Key{"checkpoint_interval", "60", "resume: seconds between two commits"},
    Key{"problem", "", "resume: a text that must be the same when a run goes on"},
    Key{"sweep", "1", "resume: the number of the run's first forward sweep"},
    Key{"audit", "error", "steps run again that differ: error, exact, warn, off"},
};

struct Settings {
  std::array<std::string, kKeys.size()> values;  ///< "": not given
  PetscInt checkpoints = -1;                     ///< -ts_trajectory_max_cps_ram, or max_units_ram
  PetscInt anchors = -1;                         ///< room on disk: max_cps_disk, or max_units_disk
  PetscInt stride = -1;                          ///< -ts_trajectory_stride
  PetscInt steps = -1;  ///< of a forward sweep, all its TSSolve together; -1: not known beforehand
  PetscReal tolerance = 1e-8;   ///< for a step run again
  std::int64_t set_aside = -1;  ///< bytes of `memory` for records that no recomputation leads to
  bool changed = false;         ///< since the run was opened

  static std::size_t index_of(const char* name);
  const std::string& value(const char* name) const;
  /// The same, or else from ANADROME_OPTIONS; "": neither.
  std::string value_or_environment(const char* name) const;
  /// It is not the library's here: its value, or what is used without one.
  std::string audit() const;
  /// Seconds; throws Error.
  double commit_interval() const;
  /// Files that are written at the end are those that the program names now.
  void fix_files();
  bool resumes() const { return value_or_environment("resume") == "on"; }
  bool keeps_files() const;
};

/// The value of a key in ANADROME_OPTIONS, or "". Options that are set come before the environment,
/// so keys that the trajectory would set by itself are looked up there first.
std::string from_environment(const char* key);
/// All that ANADROME_OPTIONS sets, in its order.
std::vector<std::pair<std::string, std::string>> words_of_environment();
/// Behind a comma, where a space was meant.
bool sets_another_option(const std::string& value);
/// A hash of ANADROME_OPTIONS without the directory, which may differ between ranks.
std::int64_t hash_of_environment();
/// A hash of what all ranks have to say alike, as it decides what is collective.
std::int64_t hash_of_settings(const Settings& settings);
/// Bytes of memory that were asked for; 1 GiB if nothing was said.
PetscErrorCode memory_asked(const Settings& settings, std::int64_t* bytes);

/// -help and the options database.
PetscErrorCode read_settings(OptionItems PetscOptionsObject, Settings* settings);

/// TSTrajectorySetMaxCpsRAM and its like act on the settings as well: composed with the trajectory,
/// or, not `there`, taken away.
PetscErrorCode compose_settings(TSTrajectory tj, bool there);
/// The settings of a trajectory of this type.
Settings& settings_of(TSTrajectory tj);

}  // namespace anadrome::petsc

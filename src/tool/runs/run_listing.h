// SPDX-License-Identifier: BSD-2-Clause
// Runs on disk, for those who look from outside: which directories are runs', whether a run lives,
// and the removal of a dead run's files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/directory/lock_record.h"
#include "store/files/directory.h"

namespace anadrome::tool {

enum class RunState {
  kLive,  ///< as is_live has it
  kDead,  ///< its lock lies there, and its holder is gone
  kKept   ///< it ended, and left its files on purpose
};

struct ListedFile {
  std::string name;
  std::int64_t bytes = 0, allocated = 0;
};

struct ListedRun {
  std::string path;
  store::FileId directory;  ///< what is done with the run is done there
  RunState state = RunState::kKept;
  store::LockRecord lock;         ///< the lock's record, if there is a lock
  std::vector<ListedFile> files;  ///< by name, without the lock
  std::int64_t changed = 0;       ///< the newest change of any file, in seconds since 1970
};

/// The run whose directory `path` is, or the runs in directories of `path`, by name; none if there
/// are none. A directory with a file that is not a run's is nobody's. Symbolic links are not
/// followed. Asking takes a dead run's lock for a moment. Throws ERR_IO, ERR_ARGUMENT if `path` is
/// no directory.
std::vector<ListedRun> list_runs(const std::string& path);

/// A file of it that is not the run's, whatever its name is (see RunFiles); "": there is none.
/// Throws ERR_BUSY if another directory has its path now, ERR_ARGUMENT if none has; ERR_IO.
std::string file_of_nobody(const ListedRun& run);

/// Remove a dead run's files and its directory, or nothing. Throws ERR_BUSY if it lives (again),
/// ERR_ARGUMENT if it has no lock (then it was kept, or is being removed) or a file that is not its
/// own; ERR_IO.
void remove_dead_run(const ListedRun& seen);

/// The same for a run that ended and left its files on purpose. Throws ERR_BUSY if another is there
/// now, or the files are not those that were `seen`.
void remove_kept_run(const ListedRun& seen);

}  // namespace anadrome::tool

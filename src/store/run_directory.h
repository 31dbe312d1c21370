// The private directory of one run: 0700, locked, created and removed by this library. Its lock is
// a flock, which the kernel drops with the process, so that a dead run never blocks a new one on
// its host.
#pragma once

#include <cstdint>
#include <string>

#include "store/file_system.h"

namespace anadrome::store {

/// What to do with the files of an earlier, dead or finished run.
enum class Leftovers { kRemove, kTakeOver };

class RunDirectory {
 public:
  RunDirectory() = default;
  RunDirectory(RunDirectory&&) = default;
  RunDirectory& operator=(RunDirectory&&) = default;
  ~RunDirectory();

  /// Make `parent`/`name` and lock it. Throws ERR_BUSY if a live run holds it, ERR_ARGUMENT if it
  /// is something else, ERR_IO.
  static RunDirectory create(const std::string& parent, const std::string& name,
                             const std::string& run_id, Leftovers leftovers = Leftovers::kRemove);
  /// As create, unless the directory is the one that `run_id` created already (a shared file
  /// system): then nothing is owned here.
  static RunDirectory create_or_join(const std::string& parent, const std::string& name,
                                     const std::string& run_id,
                                     Leftovers leftovers = Leftovers::kRemove);

  bool owned() const { return static_cast<bool>(lock_); }
  /// Remove every file of the run, its journals first, and the directory. Nothing happens where it
  /// is not owned.
  void remove();
  /// Let go of the lock but leave the files.
  void keep();

  static std::string path(const std::string& parent, const std::string& name) {
    return parent + "/" + name;
  }

 private:
  bool take(const std::string& run_id, Leftovers leftovers);

  std::string path_;
  File lock_;
};

}  // namespace anadrome::store

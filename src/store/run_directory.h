// The private directory of one run: 0700, locked (store/lock_record.h), created and removed by this
// library.
#pragma once

#include <cstdint>
#include <string>

#include "store/file_system.h"

namespace anadrome::store {

/// How to treat the files of an earlier, dead or finished run.
enum class Leftovers { kRemove, kTakeOver };

/// How a directory is to be had.
struct Claim {
  Leftovers leftovers = Leftovers::kRemove;
  bool takeover = false;  ///< a holder on another host is dead, whatever its heartbeat says
};

class RunDirectory {
 public:
  RunDirectory() = default;
  RunDirectory(RunDirectory&&) = default;
  RunDirectory& operator=(RunDirectory&&) = default;
  ~RunDirectory();

  /// Make `parent`/`name` and lock it. Throws ERR_BUSY if a live run holds it (and says which),
  /// ERR_ARGUMENT if it is something else, ERR_IO.
  static RunDirectory create(const std::string& parent, const std::string& name,
                             const std::string& run_id, const Claim& claim = {});
  /// As create, unless the directory is the one that `run_id` created already (a shared file
  /// system): then nothing is owned here.
  static RunDirectory create_or_join(const std::string& parent, const std::string& name,
                                     const std::string& run_id, const Claim& claim = {});

  bool owned() const { return static_cast<bool>(lock_); }
  /// Remove every file of the run, its journals first, and the directory. Nothing happens where it
  /// is not owned. Throws ERR_IO, and ERR_BUSY if it was taken over: then it is left as it is. The
  /// lock stays where a file does, which a run that is dead is known by.
  void remove();
  /// Let go of the lock but leave the files. Throws as remove does.
  void keep();

  static std::string path(const std::string& parent, const std::string& name) {
    return parent + "/" + name;
  }

 private:
  bool take(const std::string& run_id, const Claim& claim);
  void require_lock();

  std::string path_;
  std::string run_id_;
  File lock_;
};

}  // namespace anadrome::store

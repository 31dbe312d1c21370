// SPDX-License-Identifier: BSD-2-Clause
// The private directory of one run: 0700, locked (store/directory/lock_record.h), created and
// removed by this library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "store/directory/lock_record.h"
#include "store/files/directory.h"
#include "store/files/file_system.h"

namespace anadrome::store {

/// How to treat the files of an earlier, dead or finished run.
enum class Leftovers { kRemove, kTakeOver };

/// A lock that goes with this process: children that it forks do not hold it on after its end.
class HeldLock {
 public:
  HeldLock() = default;
  explicit HeldLock(File file);
  HeldLock(HeldLock&&) = default;
  HeldLock& operator=(HeldLock&& other) noexcept;
  ~HeldLock() { close(); }
  void close();
  explicit operator bool() const { return static_cast<bool>(file_); }
  operator const File&() const { return file_; }
  const File* operator->() const { return &file_; }

 private:
  File file_;
};

class RunDirectory {
 public:
  RunDirectory() = default;
  RunDirectory(RunDirectory&&) = default;
  RunDirectory& operator=(RunDirectory&&) = default;
  ~RunDirectory();

  /// Make `parent`/`name` and lock it. Throws ERR_BUSY if a live run holds it (and says which),
  /// ERR_ARGUMENT if it is something else, or holds a file that is not a run's; ERR_IO.
  static RunDirectory create(const std::string& parent, const std::string& name,
                             const std::string& run_id, Leftovers leftovers = Leftovers::kRemove);
  /// As create, unless the directory is the one that `run_id` created already (a shared file
  /// system): then nothing is owned here.
  static RunDirectory create_or_join(const std::string& parent, const std::string& name,
                                     const std::string& run_id,
                                     Leftovers leftovers = Leftovers::kRemove);

  /// What `create` would refuse for now only: a lock that another process holds, or, where that
  /// cannot be seen from here, one that is live as far as its heartbeat says.
  static std::optional<LockRecord> other_holder(const std::string& parent,
                                                const std::string& name) noexcept;
  /// Is the lock of the run `run_id` in its directory? Looks for up to `seconds`, since the caches
  /// of network file systems show late what others made. Returns ERR_ARGUMENT with what is there
  /// instead, ERR_IO. `found`: is held then.
  static Failure find(const std::string& parent, const std::string& name, const std::string& run_id,
                      double seconds, Directory* found = nullptr);

  /// Did the run whose files are in the directory at `path` come to its end, or is the directory
  /// another user's? No run goes on from it.
  static bool has_ended(const std::string& path) noexcept;

  bool owned() const { return static_cast<bool>(lock_); }
  /// Note that ranks 0 to `ranks` less one have made files of adjoint fields, which say nothing of
  /// their own. Nothing happens where the directory is not owned. Throws ERR_IO.
  void note_adjoints(std::int64_t ranks);
  /// Note that the run came to its end, for who finds some of its files only. Nothing happens where
  /// the directory is not owned. `lasts`: through a power loss, too. False: the note could not be
  /// made, or nobody may see it.
  bool note_end(bool lasts = true) noexcept;
  /// Remove every file of the run, its journals first, and the directory. Nothing happens where it
  /// is not owned. Throws ERR_IO, also if somebody removed the lock, and ERR_BUSY if it was taken
  /// over: in both cases it is left as it is. The lock stays where a file does, which a run that is
  /// dead is known by. ERR_ARGUMENT: a file that is no run's is in the directory, and both stay.
  void remove();
  /// Let go of the lock but leave the files. Throws as remove does.
  void keep();

  static std::string path(const std::string& parent, const std::string& name) {
    return parent + "/" + name;
  }

 private:
  enum class Taking { kTaken, kJoined, kAgain };
  Taking take(const std::string& parent, const std::string& name, const std::string& run_id,
              Leftovers leftovers);
  void remove_leftovers(Leftovers leftovers) const;
  void require_lock();

  Directory directory_;
  std::string run_id_;
  std::int64_t adjoints_ = 0;  ///< as note_adjoints has them
  HeldLock lock_;
};

}  // namespace anadrome::store

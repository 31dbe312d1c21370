// SPDX-License-Identifier: BSD-2-Clause
// The files in a run's directory, and who made them. A name alone is anybody's: RunFiles is the one
// place that says which files go with a run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/directory/lock_record.h"
#include "store/files/directory.h"

namespace anadrome::store {

inline constexpr const char* kLockName = "lock";
/// Followed by the run id: no rank of another run takes it for its own.
inline constexpr std::string_view kHeartbeatStem = "heartbeats-";

/// What a run would write under a name. States are segments, their copies, and files for readers.
enum class FileKind { kNone, kLock, kJournal, kAdjoint, kHeartbeats, kStates };
FileKind kind_of(std::string_view name);
inline bool is_journal(std::string_view name) { return kind_of(name) == FileKind::kJournal; }

/// The names in the directory, journals first: without them a run is over. Throws ERR_IO.
std::vector<std::string> files_in(const Directory& directory);

/// The files in a directory as they are now. One is a run's if it is a regular file, of the
/// directory's owner and with the name of a file of a run's, and
///   it says so itself: the text of a lock, the first bytes of a journal, the attribute in an HDF5
///     file, the mark of a heartbeat; or
///   the lock counts its rank, or the journal of that is there (adjoint fields); or
///   the lock has the run id that is in its name (heartbeats); or
///   a run was here, as a lock or another file says, and this has one name and a blank beginning,
///     or cannot be read, though its owner may: so a killed process, a power loss or a damaged disk
///     leave it.
class RunFiles {
 public:
  /// `own`: the record of the run that asks, and holds the lock, whatever that says by now. Throws
  /// ERR_IO.
  explicit RunFiles(Directory directory, const std::optional<LockRecord>& own = {});

  bool made(const std::string& name) const;
  /// A file that is not a run's; "": there is none.
  std::string foreign() const;
  /// Throws ERR_ARGUMENT if there is one, but not where every file is a run's by name and nothing
  /// was written to any: then a run, or a host, died at its beginning. The error of a file that
  /// cannot be read, where none can tell.
  void require_made() const;
  /// So many ranks at most have adjoint fields here, for the lock of who removes them.
  std::int64_t ranks_with_adjoints() const;
  /// Removes all files that are a run's but the lock, by which others find what is left: as many as
  /// can be. Returns the name of one that is not a run's. Throws ERR_IO: "cannot `verb` ..".
  std::string remove_all(const std::string& verb) const;
  /// For the run that holds the directory: removes `name` if that is a run's, and says whether it
  /// did. Not for adjoint fields, of which others tell. Throws ERR_IO.
  static bool remove_one(const Directory& directory, const std::string& name);
  /// For a rank of that run, once its end is noted: removes its journal, if that says it is one,
  /// and then its adjoint fields. Throws ERR_IO.
  static void remove_of_rank(const Directory& directory, const std::string& journal);

 private:
  /// Nothing: zeros, or what cannot be read. Unusable: no regular file of the directory's owner, or
  /// with no name of a run's.
  enum class Says { kRuns, kNothing, kOther, kUnusable };
  static Says look_at(const Directory& directory, const std::string& name, Failure& unreadable);
  bool is_named(const std::string& name) const;

  struct Seen {
    std::string name;
    FileKind kind;
    Says says;
  };
  const Seen* find(const std::string& name) const;
  bool is_made(const Seen& file) const;

  Directory directory_;
  LockRecord lock_;
  std::vector<Seen> files_;
  bool was_here_ = false;
  Failure unreadable_;
};

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// The lock of a run's directory: who holds it, and whether that process lives.
//
// The lock is a flock where that reaches: the kernel drops it with the process. Between hosts it
// may do nothing, or not be there at all; then the record in the file decides, by its heartbeat.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "store/directory/process_identity.h"
#include "store/files/file_system.h"

namespace anadrome::store {

/// Times on the calendar's clock.
struct LockRecord {
  std::string run_id;
  ProcessIdentity holder;  ///< pid 0: unknown
  std::int64_t since = 0, heartbeat = 0;
  std::int64_t adjoints = 0;  ///< ranks 0 to this one less one have files of adjoint fields
  bool ended = false;         ///< its files are being removed: no run goes on from them
};

/// A holder out of sight is taken for dead when it left no heartbeat for so long. It leaves one
/// every kHeartbeatSeconds.
inline constexpr std::int64_t kHeartbeatSeconds = 10;
inline constexpr std::int64_t kStaleSeconds = 120;

/// Does a text begin as that of a lock, whether or not it is whole?
bool looks_like_a_lock(std::string_view text);
/// Is it as long as one, and holds bytes that are in no text? A disk that is damaged left it.
bool is_damaged_lock(std::string_view text);
/// The record of this process, from now on.
LockRecord new_lock_record(const std::string& run_id);
/// The record as far as it can be read; the holder is unknown if it is not whole. Throws ERR_IO.
LockRecord read_lock(const File& lock);
/// All of it in one write. Throws ERR_IO, ERR_NO_SPACE.
void write_lock(const File& lock, const LockRecord& record);
/// Change the record if it is whole and the run's: one thread of this process at a time, since the
/// watch keeps the heartbeat and the caller notes the end. Returns the record that is there. Throws
/// as read_lock and write_lock do.
LockRecord update_lock(const File& lock, const std::string& run_id,
                       const std::function<void(LockRecord&)>& change);

enum class Flock {
  kTaken,       ///< by us, just now
  kHeld,        ///< by another
  kUnavailable  ///< this file system has none
};
/// Who looks at a dead run has its lock for a moment: that is waited for, up to a second. Throws
/// ERR_IO.
Flock try_flock(const File& lock);

/// Does the holder of a lock with which that was the outcome live, at the time `now`?
bool is_live(const LockRecord& record, Flock flock, std::int64_t now);

/// Throws ERR_BUSY: the run in the directory at `path` lost it to `successor`.
[[noreturn]] void throw_taken_over(const std::string& path, const LockRecord& successor);

/// "process 4711 on node017 since 2026-01-31 12:00:00 UTC, last heartbeat 4 s ago"
std::string describe_holder(const LockRecord& record, std::int64_t now);

}  // namespace anadrome::store

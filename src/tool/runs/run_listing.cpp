// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/run_listing.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "store/directory/run_files.h"
#include "store/files/file_system.h"

namespace anadrome::tool {
namespace {

using store::Directory, store::File, store::FileKind, store::FileStatus, store::Flock;
using store::kLockName, store::LockRecord, store::RunFiles;

// The record of the lock, and whether its holder lives. Holds the lock itself if nobody else does.
struct SeenLock {
  explicit SeenLock(const Directory& directory, int flags)
      : file(directory.open_file(kLockName, flags)),
        flock(try_flock(file)),
        record(read_lock(file)),
        live(is_live(record, flock, calendar_seconds())) {}
  File file;
  Flock flock;
  LockRecord record;
  bool live;
};

// None if the directory holds anything that is not a run's, or nothing.
std::optional<ListedRun> run_in(const Directory& directory) {
  ListedRun run;
  run.path = directory.path();
  run.directory = directory.id();
  bool has_lock = false;
  for (const std::string& name : files_in(directory)) {
    const FileKind kind = store::kind_of(name);
    if (kind == FileKind::kNone) return std::nullopt;
    const std::optional<FileStatus> status = directory.status(name);
    if (!status) continue;  // just removed
    if (!status->regular) return std::nullopt;
    run.changed = std::max(run.changed, status->changed);
    if (kind == FileKind::kLock) {
      has_lock = true;
    } else if (kind != FileKind::kHeartbeats) {  // which are gone with their run
      run.files.push_back({name, status->bytes, status->allocated});
    }
  }
  if (!has_lock && run.files.empty()) return std::nullopt;
  std::sort(run.files.begin(), run.files.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.name < b.name; });
  if (has_lock) {
    const SeenLock lock(directory, O_RDONLY);  // also where nothing can be written
    run.lock = lock.record;
    run.state = lock.live ? RunState::kLive : RunState::kDead;
  }
  return run;
}

// Of a run whose lock is held here. The lock is last: until then nobody else may come in.
void remove_all(const Directory& directory, File& lock) {
  RunFiles(directory).remove_all("remove");
  failure_from([&] { directory.sync(); });  // it names what a power loss would bring back
  int gone = directory.has_another(kLockName, lock) ? 0 : directory.unlink(kLockName);
  lock.close();  // first: NFS keeps what is open
  if (gone == 0) gone = directory.remove();
  if (gone < 0) store::throw_errno(gone, "remove", directory.path());
}

[[noreturn]] void refuse(const ListedRun& seen) {
  throw Error(ANADROME_ERR_BUSY, seen.path + " is not as it was any more: it was left alone");
}

Directory seen_one(const ListedRun& seen) {
  Directory directory = Directory::open(seen.path);
  if (directory.id() != seen.directory) refuse(seen);
  return directory;
}

void require_made(const Directory& directory) {
  const std::string foreign = RunFiles(directory).foreign();
  if (foreign.empty()) return;
  throw Error(ANADROME_ERR_ARGUMENT, directory.path() + " was left alone: it holds '" + foreign +
                                         "', and nothing in it says that a run made that");
}

bool has_same_files(const ListedRun& a, const ListedRun& b) {
  return std::equal(a.files.begin(), a.files.end(), b.files.begin(), b.files.end(),
                    [](const ListedFile& one, const ListedFile& other) {
                      return one.name == other.name && one.bytes == other.bytes;
                    });
}

}  // namespace

std::vector<ListedRun> list_runs(const std::string& path) {
  const Directory directory = Directory::open(path);
  std::vector<ListedRun> runs;
  if (auto run = run_in(directory)) {
    runs.push_back(std::move(*run));
    return runs;
  }
  std::vector<std::string> names = directory.names();
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    try {
      const std::optional<Directory> below = directory.below(name);
      if (!below) continue;
      if (auto run = run_in(*below)) runs.push_back(std::move(*run));
    } catch (const Error&) {  // another user's, perhaps: not asked for by name
    }
  }
  return runs;
}

std::string file_of_nobody(const ListedRun& run) { return RunFiles(seen_one(run)).foreign(); }

void remove_dead_run(const ListedRun& seen) {
  const Directory directory = seen_one(seen);
  if (directory.lacks(kLockName)) {
    throw Error(ANADROME_ERR_ARGUMENT,
                seen.path + " has no lock: its run ended and kept its files");
  }
  SeenLock lock(directory, O_RDWR);
  if (lock.live) {
    throw Error(ANADROME_ERR_BUSY, seen.path + " is in use by a live run: " +
                                       describe_holder(lock.record, calendar_seconds()));
  }
  // Between looking and locking, another may have removed it, or a new run may have begun.
  struct stat status {};
  if (::fstat(lock.file.get(), &status) != 0 || status.st_nlink == 0) return;
  require_made(directory);
  remove_all(directory, lock.file);
}

void remove_kept_run(const ListedRun& seen) {
  const Directory directory = seen_one(seen);
  const auto now = [&] { return run_in(directory).value_or(ListedRun{}); };
  if (now().state != RunState::kKept) refuse(seen);
  require_made(directory);  // before the lock, beside which more counts as a run's
  File lock = directory.open_file(kLockName, O_RDWR | O_CREAT | O_EXCL);
  try {
    if (try_flock(lock) == Flock::kHeld) refuse(seen);  // by a run that came in just now
    LockRecord record = store::new_lock_record("clean");
    record.adjoints = RunFiles(directory).ranks_with_adjoints();
    write_lock(lock, record);
    if (!has_same_files(now(), seen)) refuse(seen);
  } catch (...) {
    if (!directory.has_another(kLockName, lock)) directory.unlink(kLockName);
    throw;
  }
  remove_all(directory, lock);
}

}  // namespace anadrome::tool

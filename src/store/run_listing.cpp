// SPDX-License-Identifier: BSD-2-Clause
#include "store/run_listing.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "store/file_system.h"
#include "store/format.h"
#include "store/journal_record.h"
#include "store/run_files.h"

namespace anadrome::store {
namespace {

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// The record of the lock, and whether its holder lives. Holds the lock itself if nobody else does.
struct SeenLock {
  explicit SeenLock(const std::string& path)
      : file(File::open(path, O_RDWR)),
        flock(try_flock(file)),
        record(read_lock(file)),
        live(is_live(record, flock, calendar_seconds())) {}
  File file;
  Flock flock;
  LockRecord record;
  bool live;
};

// None if the directory holds anything that is not a run's, or nothing.
std::optional<ListedRun> run_at(const std::string& path) {
  ListedRun run;
  run.path = path;
  bool has_lock = false;
  for (const std::string& name : files_in(path)) {
    struct stat status {};
    if (!is_run_file(name)) return std::nullopt;
    if (::lstat((path + "/" + name).c_str(), &status) != 0) continue;  // just removed
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    run.changed = std::max<std::int64_t>(run.changed, status.st_mtime);
    if (name == kLockName) {
      has_lock = true;
    } else if (!is_heartbeat_file(name)) {  // which is gone with its run
      run.files.push_back({name, status.st_size});
    }
  }
  if (!has_lock && run.files.empty()) return std::nullopt;
  std::sort(run.files.begin(), run.files.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.name < b.name; });
  if (has_lock) {
    const SeenLock lock(path + "/" + kLockName);
    run.lock = lock.record;
    run.state = lock.live ? RunState::kLive : RunState::kDead;
  }
  return run;
}

// Of a run whose lock is held here. The lock is last: until then nobody else may come in.
void remove_all(const std::string& path) {
  for (const std::string& name : files_in(path)) {
    if (name == kLockName || !is_run_file(name)) continue;
    const int gone = file_system().unlink(path + "/" + name);
    if (gone < 0) throw_errno(gone, "remove", path + "/" + name);
  }
  const std::string real = std::filesystem::canonical(path).string();  // "." cannot be removed
  int gone = file_system().unlink(path + "/" + kLockName);
  if (gone == 0) gone = file_system().remove_directory(real);
  if (gone < 0) throw_errno(gone, "remove", path);
}

bool has_same_files(const ListedRun& a, const ListedRun& b) {
  return std::equal(a.files.begin(), a.files.end(), b.files.begin(), b.files.end(),
                    [](const ListedFile& one, const ListedFile& other) {
                      return one.name == other.name && one.bytes == other.bytes;
                    });
}

}  // namespace

std::vector<ListedRun> list_runs(const std::string& path) {
  if (!is_directory(path)) throw Error(ANADROME_ERR_ARGUMENT, path + " is not a directory");
  std::vector<ListedRun> runs;
  if (auto run = run_at(path)) {
    runs.push_back(std::move(*run));
    return runs;
  }
  std::vector<std::string> names = files_in(path);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string below = path + "/" + name;
    if (!is_directory(below)) continue;
    try {
      if (auto run = run_at(below)) runs.push_back(std::move(*run));
    } catch (const Error&) {  // another user's, perhaps: not asked for by name
    }
  }
  return runs;
}

// A journal's first bytes, or the name of the attribute that every HDF5 file of a run has: HDF5
// keeps those of a file near its start.
bool marks_a_run(const std::string& name, const std::string& head) {
  if (is_journal(name)) return head.starts_with(journal_preamble(kJournalVersion).substr(0, 8));
  return head.starts_with("\x89HDF") && head.find(kFormatAttribute) != std::string::npos;
}

bool says_it_is_a_run(const ListedRun& run) {
  if (run.lock.holder.pid != 0) return true;
  return std::any_of(run.files.begin(), run.files.end(), [&](const ListedFile& listed) {
    bool says = false;
    failure_from([&] {
      const File file = File::open(run.path + "/" + listed.name, O_RDONLY);
      std::string head(std::min(kMarkedBytes, static_cast<std::size_t>(listed.bytes)), '\0');
      file.read_all(head.data(), head.size(), 0);
      says = marks_a_run(listed.name, head);
    });
    return says;
  });
}

void remove_dead_run(const std::string& path) {
  const std::string lock_path = path + "/" + kLockName;
  if (!run_at(path)) throw Error(ANADROME_ERR_ARGUMENT, path + " is not a run's directory");
  struct stat status {};
  if (::lstat(lock_path.c_str(), &status) != 0) {
    throw Error(ANADROME_ERR_ARGUMENT, path + " has no lock: its run ended and kept its files");
  }
  const SeenLock lock(lock_path);
  if (lock.live) {
    throw Error(ANADROME_ERR_BUSY, path + " is in use by a live run: " +
                                       describe_holder(lock.record, calendar_seconds()));
  }
  // Between looking and locking, another may have removed it, or a new run may have begun.
  if (::fstat(lock.file.get(), &status) != 0 || status.st_nlink == 0) return;
  remove_all(path);
}

void remove_kept_run(const ListedRun& seen) {
  const std::string lock_path = seen.path + "/" + kLockName;
  const auto now = [&] { return run_at(seen.path).value_or(ListedRun{}); };
  const auto refuse = [&] {
    throw Error(ANADROME_ERR_BUSY, seen.path + " is not as it was any more: it was left alone");
  };
  if (now().state != RunState::kKept) refuse();
  const File lock = File::open(lock_path, O_RDWR | O_CREAT | O_EXCL);
  if (try_flock(lock) == Flock::kHeld) refuse();  // by a run that came in just now
  try {
    write_lock(lock, new_lock_record("clean"));
    if (!has_same_files(now(), seen)) refuse();
  } catch (...) {
    file_system().unlink(lock_path);
    throw;
  }
  remove_all(seen.path);
}

}  // namespace anadrome::store

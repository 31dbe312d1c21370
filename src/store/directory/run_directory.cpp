// SPDX-License-Identifier: BSD-2-Clause
#include "store/directory/run_directory.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "store/directory/lock_record.h"
#include "store/directory/run_files.h"

namespace anadrome::store {
namespace {

// The descriptors of the locks of this process; -1: none. A child takes nothing else of them, since
// it may have been forked while another thread changed them.
struct HeldLocks {
  HeldLocks() {
    for (std::atomic<int>& descriptor : descriptors) descriptor = -1;
  }
  std::array<std::atomic<int>, 64> descriptors;
} held_locks;

void let_go_in_child() {
  for (std::atomic<int>& descriptor : held_locks.descriptors) {
    const int held = descriptor.exchange(-1);
    if (held >= 0) ::close(held);
  }
}

void exchange_held(int old, int now) {
  for (std::atomic<int>& descriptor : held_locks.descriptors) {
    int expected = old;
    if (descriptor.compare_exchange_strong(expected, now)) return;
  }
}

bool is_ours(const Directory& directory) { return directory.owner() == ::geteuid(); }

// The directory, its lock, and what is open at a time where they are removed: who has no more
// descriptors would leave them.
void require_descriptors(const std::string& parent, const std::string& name) {
  std::array<File, 6> some;
  for (File& one : some) {
    const int opened = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0 && errno == EMFILE) throw_errno(-EMFILE, "create", parent + "/" + name);
    one = File(opened, "");
  }
}

// A directory of that name exists: it may be used only if it is this user's.
void require_ours(const Directory& directory) {
  if (is_ours(directory)) return;
  throw Error(ANADROME_ERR_ARGUMENT,
              directory.path() +
                  " exists and is not a directory of this user; set another name or directory");
}

[[noreturn]] void throw_busy(const std::string& path, const LockRecord& holder) {
  if (holder.holder.pid == ::getpid() && state_of(holder.holder) == ProcessState::kRuns) {
    throw Error(ANADROME_ERR_BUSY,
                path +
                    " is in use by another run of this process, which was not closed: close it (in "
                    "Python use `with`, or call close()), or set another name or directory");
  }
  const bool elsewhere = state_of(holder.holder) == ProcessState::kElsewhere;
  throw Error(ANADROME_ERR_BUSY,
              path + " is in use by a live run: " + describe_holder(holder, calendar_seconds()) +
                  "; set another name or directory" +
                  (elsewhere ? ", or wait_for_lock=3min if that process is gone"
                             : ", or end that one; wait_for_lock=SECONDS waits for it"));
}

// To be sure: where a storage server is away, a file that is there may seem to be missing.
bool is_removed(const File& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errno == ESTALE || errno == ENOENT;
  return status.st_nlink == 0;
}

void require_lock_of(const std::string& run_id, const std::optional<Directory>& directory,
                     const std::string& path) {
  if (!directory || directory->lacks(kLockName)) {
    throw Error(ANADROME_ERR_ARGUMENT, "there is no " + path + "/" + kLockName);
  }
  require_ours(*directory);
  const LockRecord record = read_lock(directory->open_file(kLockName, O_RDONLY));
  if (record.run_id == run_id) return;
  throw Error(ANADROME_ERR_ARGUMENT, path + "/" + kLockName + " is another run's: " +
                                         describe_holder(record, calendar_seconds()));
}

}  // namespace

HeldLock::HeldLock(File file) : file_(std::move(file)) {
  [[maybe_unused]] static const int registered =
      ::pthread_atfork(nullptr, nullptr, &let_go_in_child);
  if (file_) exchange_held(-1, file_.get());
}

HeldLock& HeldLock::operator=(HeldLock&& other) noexcept {
  if (this != &other) {
    close();
    file_ = std::move(other.file_);
  }
  return *this;
}

void HeldLock::close() {
  if (file_) exchange_held(file_.get(), -1);
  file_.close();
}

RunDirectory::~RunDirectory() {
  if (!owned()) return;
  try {
    remove();
  } catch (...) {  // a failed run leaves what cannot be removed
    lock_.close();
  }
}

RunDirectory RunDirectory::create(const std::string& parent, const std::string& name,
                                  const std::string& run_id, Leftovers leftovers) {
  // Between opening the lock and having it, a run that ends may have removed it: then once more.
  constexpr int kTries = 3;
  require_descriptors(parent, name);
  for (int i = 0; i < kTries; ++i) {
    RunDirectory directory;
    if (directory.take(parent, name, run_id, leftovers) != Taking::kAgain) return directory;
  }
  throw_busy(path(parent, name), {});
}

// Again: the lock that was taken is no file of the directory any more. Joined: it is this run's
// own, which create_or_join did not see yet. A lock that is free keeps others out while the files
// beside it are looked at.
RunDirectory::Taking RunDirectory::take(const std::string& parent, const std::string& name,
                                        const std::string& run_id, Leftovers leftovers) {
  bool made = false;
  directory_ = Directory::make(parent, name, made);
  bool made_lock = false;
  File lock;
  try {
    if (!made) {
      require_ours(directory_);
      const std::optional<FileStatus> there = directory_.status(kLockName);
      made_lock = !there;
      if (!there || !there->regular) RunFiles(directory_).require_made();
    }
    lock = directory_.open_file(kLockName, O_RDWR | O_CREAT);
    const Flock flock = try_flock(lock);
    const LockRecord holder = read_lock(lock);
    if (holder.run_id == run_id) return Taking::kJoined;
    if (is_live(holder, flock, calendar_seconds())) throw_busy(directory_.path(), holder);
    if (!made) RunFiles(directory_).require_made();
  } catch (...) {
    const bool busy = current_failure().status == ANADROME_ERR_BUSY;
    const bool mine = lock && !directory_.has_another(kLockName, lock);
    if (mine && (made || made_lock) && !busy) directory_.unlink(kLockName);
    if (made && !busy) directory_.remove();
    throw;
  }
  struct stat status {};
  if (::fstat(lock.get(), &status) == 0 && status.st_nlink == 0) return Taking::kAgain;
  lock_ = HeldLock(std::move(lock));
  run_id_ = run_id;
  try {
    if (!made) {
      remove_leftovers(leftovers);
      directory_.make_private();
    }
    // After a power loss the lock says whose the files beside it are, or they are nobody's.
    failure_from([&] {
      directory_.sync();
      if (made) sync_directory(parent);
    });
    write_lock(lock_, new_lock_record(run_id));
    failure_from([&] { lock_->sync(); });
    // By it others judge, and this run at its end.
    const LockRecord written = read_lock(lock_);
    if (written.holder.pid == 0 || written.run_id != run_id) {
      throw Error(ANADROME_ERR_IO,
                  directory_.path_of(kLockName) + " does not hold what was written to it");
    }
  } catch (...) {  // the files of another run stay, though this one cannot go on
    if (leftovers == Leftovers::kTakeOver) lock_.close();
    throw;
  }
  return Taking::kTaken;
}

// Of a run that goes on only the heartbeats, which nobody reads any more.
void RunDirectory::remove_leftovers(Leftovers leftovers) const {
  if (leftovers == Leftovers::kRemove) {
    RunFiles(directory_).remove_all("remove an earlier run's file");
    return;
  }
  for (const std::string& name : directory_.names()) {
    if (kind_of(name) != FileKind::kHeartbeats) continue;
    bool gone = false;
    failure_from([&] { gone = RunFiles::remove_one(directory_, name); });
    if (!gone && RunFiles(directory_).made(name)) directory_.unlink(name);
  }
}

RunDirectory RunDirectory::create_or_join(const std::string& parent, const std::string& name,
                                          const std::string& run_id, Leftovers leftovers) {
  const bool is_here = !find(parent, name, run_id, 0);
  return is_here ? RunDirectory{} : create(parent, name, run_id, leftovers);
}

std::optional<LockRecord> RunDirectory::other_holder(const std::string& parent,
                                                     const std::string& name) noexcept {
  std::optional<LockRecord> holder;
  failure_from([&] {  // create says what is wrong
    const std::optional<Directory> directory = Directory::find(parent, name);
    if (!directory || !is_ours(*directory)) return;
    const File lock = directory->open_file(kLockName, O_RDWR);
    const Flock flock = try_flock(lock);
    const LockRecord record = read_lock(lock);
    const ProcessState state = state_of(record.holder);
    if (state == ProcessState::kRuns && record.holder.pid == ::getpid())
      return;  // waits for itself
    if (is_live(record, flock, calendar_seconds())) holder = record;
  });
  return holder;
}

bool RunDirectory::has_ended(const std::string& path) noexcept {
  bool ended = false;
  failure_from([&] {  // no lock, no end
    const Directory directory = Directory::open(path);
    ended = !is_ours(directory);
    if (!ended) ended = read_lock(directory.open_file(kLockName, O_RDONLY)).ended;
  });
  return ended;
}

// Each time by its path: another host may just be making it.
Failure RunDirectory::find(const std::string& parent, const std::string& name,
                           const std::string& run_id, double seconds, Directory* found) {
  constexpr double kFirstPause = 0.01, kLongestPause = 0.5;
  const double until = now_seconds() + seconds;
  for (double pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    Failure other = failure_from([&] {
      const std::optional<Directory> there = Directory::find(parent, name);
      require_lock_of(run_id, there, path(parent, name));
      if (found != nullptr) *found = *there;
    });
    if (other.status != ANADROME_ERR_ARGUMENT || now_seconds() >= until) return other;
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
  }
}

// A holder that was taken for dead, and lives, must leave its successor's files alone. A file that
// cannot be read is no successor's. Who takes over writes into the lock that this run holds; one
// that is gone and says nothing of a successor was removed by somebody else, who may have put
// another file in its place.
void RunDirectory::require_lock() {
  const bool gone = directory_.lacks(kLockName) && is_removed(lock_);
  std::optional<LockRecord> holder;
  failure_from([&] {
    holder = gone ? read_lock(lock_) : read_lock(directory_.open_file(kLockName, O_RDONLY));
  });
  const bool whole = holder && holder->holder.pid != 0;
  const bool another = whole && holder->run_id != run_id_;
  const bool replaced = !gone && !whole && directory_.has_another(kLockName, lock_);
  if (!another && !gone && !replaced) return;
  lock_.close();
  if (replaced) {
    throw Error(ANADROME_ERR_IO, directory_.path_of(kLockName) +
                                     " is not this run's any more: somebody put another file in "
                                     "its place; move that one away");
  }
  if (!another) {
    throw Error(ANADROME_ERR_IO, directory_.path_of(kLockName) +
                                     " is gone, though this run still uses it: somebody removed "
                                     "it, or all of the directory");
  }
  if (!gone) throw_taken_over(directory_.path(), *holder);
  throw Error(ANADROME_ERR_BUSY, directory_.path() +
                                     " was taken over by another run, which took this one "
                                     "for dead; that run has ended, too, and its files are "
                                     "gone");
}

void RunDirectory::note_adjoints(std::int64_t ranks) {
  if (!owned() || std::exchange(adjoints_, ranks) == ranks) return;
  update_lock(lock_, run_id_, [&](LockRecord& record) { record.adjoints = ranks; });
  lock_->sync();
}

bool RunDirectory::note_end(bool lasts) noexcept {
  if (!owned()) return true;
  bool noted = false;
  const Failure failure = failure_from([&] {
    update_lock(lock_, run_id_, [&](LockRecord& record) { noted = record.ended = true; });
    if (noted && lasts) lock_->sync();  // other nodes may be faster
  });
  const bool there = !directory_.lacks(kLockName) && !directory_.has_another(kLockName, lock_);
  return noted && there && !failure;
}

void RunDirectory::remove() {
  if (!owned()) return;
  require_lock();
  LockRecord own = new_lock_record(run_id_);
  own.adjoints = adjoints_;
  std::string foreign;
  try {
    foreign = RunFiles(directory_, own).remove_all("remove");
  } catch (...) {
    lock_.close();  // when this process has ended, the rest is a dead run's
    throw;
  }
  failure_from([&] { directory_.sync(); });
  if (!directory_.has_another(kLockName, lock_)) directory_.unlink(kLockName);  // kept others out
  lock_.close();  // first: NFS keeps what is open
  const int gone = directory_.remove();
  if (gone >= 0) return;
  if (!foreign.empty()) {
    throw Error(ANADROME_ERR_ARGUMENT,
                directory_.path() + " stays: it holds '" + foreign + "', which is not a run's");
  }
  // A storage server that is away does not say which files it has. Whoever came in has a lock.
  failure_from(
      [&] { write_lock(directory_.open_file(kLockName, O_RDWR | O_CREAT | O_EXCL), own); });
  throw_errno(gone, "remove", directory_.path());
}

void RunDirectory::keep() {
  if (!owned()) return;
  require_lock();
  failure_from([&] { RunFiles::remove_one(directory_, std::string(kHeartbeatStem) + run_id_); });
  const int gone = directory_.unlink(kLockName);
  lock_.close();
  if (gone < 0) throw_errno(gone, "remove", directory_.path_of(kLockName));  // it would look dead
}

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "store/run_directory.h"

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
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/heartbeat_file.h"
#include "store/lock_record.h"
#include "store/run_files.h"
#include "store/run_listing.h"

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

// Names alone are anybody's: a lock, or a file that a run made, says more. What a power loss left
// blank, or what cannot be read, is not taken for a user's: that is said where it is removed.
bool may_be_a_run(const std::string& path, const std::vector<std::string>& names) {
  bool others = false;
  for (const std::string& name : names) {
    if (name == kLockName) return true;
    struct stat status {};
    const bool is_file =
        ::lstat((path + "/" + name).c_str(), &status) == 0 && S_ISREG(status.st_mode);
    if (!is_file || is_heartbeat_file(name)) continue;
    std::string head(std::min(kMarkedBytes, static_cast<std::size_t>(status.st_size)), '\0');
    const Failure unread = failure_from(
        [&] { File::open(path + "/" + name, O_RDONLY).read_all(head.data(), head.size(), 0); });
    if (unread || marks_a_run(name, head)) return true;
    constexpr std::size_t kSignature = 8;
    others = others || head.find_first_not_of('\0') < kSignature;
  }
  return !others;
}

// A directory of that name exists: it may be used only if it is this library's, and this user's.
void require_ours(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) throw_errno(-errno, "examine", path);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) {
    throw Error(
        ANADROME_ERR_ARGUMENT,
        path + " exists and is not a directory of this user; set another name or directory");
  }
  const std::vector<std::string> names = files_in(path);
  for (const std::string& file : names) {
    if (!is_run_file(file)) {
      throw Error(ANADROME_ERR_ARGUMENT,
                  path + " exists and holds '" + file +
                      "', which is not a run's; set another name or directory");
    }
  }
  if (may_be_a_run(path, names)) return;
  throw Error(ANADROME_ERR_ARGUMENT,
              path + " exists and holds '" + names.back() +
                  "', which nothing says is a run's; set another name or directory");
}

[[noreturn]] void throw_busy(const std::string& path, const LockRecord& holder) {
  if (holder.holder.pid == ::getpid() && state_of(holder.holder) == ProcessState::kRuns) {
    throw Error(ANADROME_ERR_BUSY,
                path +
                    " is in use by another run of this process, which was not closed: close it (in "
                    "Python use `with`, or call close()), or set another name or directory");
  }
  const bool elsewhere = state_of(holder.holder) == ProcessState::kElsewhere;
  throw Error(
      ANADROME_ERR_BUSY,
      path + " is in use by a live run: " + describe_holder(holder, calendar_seconds()) +
          "; set another name or directory" +
          (elsewhere
               ? ", or takeover=on if that process is gone; wait_for_lock=SECONDS waits for it"
               : ", or end that one"));
}

// Removes the files of a run, as many as can be; not the lock, by which others find what is left,
// and nothing that somebody else has put there: of that it returns a name.
// After a power loss no journal may be back whose files are gone.
std::string remove_files(const std::string& path, Leftovers leftovers, const std::string& verb) {
  int failed = 0;
  std::string left, foreign;
  bool journals = false;  // were removed
  for (const std::string& file : files_in(path)) {
    if (file == kLockName) continue;
    if (!is_run_file(file)) {
      foreign = file;
      continue;
    }
    if (leftovers == Leftovers::kTakeOver && !is_heartbeat_file(file)) continue;
    if (!is_journal(file) && std::exchange(journals, false)) sync_directory(path);
    journals = journals || is_journal(file);
    const int gone = file_system().unlink(path + "/" + file);
    if (gone < 0 && gone != -ENOENT && failed == 0) {
      failed = gone;
      left = path + "/" + file;
    }
  }
  if (failed < 0) throw_errno(failed, verb, left);
  return foreign;
}

// To be sure: where a storage server is away, a file that is there may seem to be missing.
bool is_removed(const File& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errno == ESTALE || errno == ENOENT;
  return status.st_nlink == 0;
}

void require_lock_of(const std::string& run_id, const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ESTALE)) {
    throw Error(ANADROME_ERR_ARGUMENT, "there is no " + path);
  }
  const LockRecord record = read_lock(File::open(path, O_RDONLY));
  if (record.run_id == run_id) return;
  throw Error(ANADROME_ERR_ARGUMENT,
              path + " is another run's: " + describe_holder(record, calendar_seconds()));
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
                                  const std::string& run_id, const Claim& claim) {
  // Between opening the lock and having it, a run that ends may have removed it: then once more.
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    RunDirectory directory;
    directory.path_ = path(parent, name);
    if (directory.take(run_id, claim) != Taking::kAgain) return directory;
  }
  throw_busy(path(parent, name), {});
}

// Again: the lock that was taken is no file of the directory any more. Joined: it is this run's
// own, which create_or_join did not see yet.
RunDirectory::Taking RunDirectory::take(const std::string& run_id, const Claim& claim) {
  const std::string& where = path_;
  const std::string lock_path = where + "/" + kLockName;
  const int made = file_system().make_directory(where, 0700);
  if (made == -ENOENT && ::access(where.substr(0, where.rfind('/')).c_str(), F_OK) == 0) {
    throw Error(ANADROME_ERR_IO, "cannot create the run's directory " + where +
                                     ": no directory can be made there; set the option directory "
                                     "to one where that is possible");
  }
  if (made == -ENOENT) {
    throw Error(ANADROME_ERR_IO, "cannot create the run's directory " + where +
                                     ": No such file or directory; make the directory above it, or "
                                     "set the option directory to one that exists");
  }
  if (made < 0 && made != -EEXIST) throw_errno(made, "create the run's directory", where);
  if (made == -EEXIST) require_ours(where);
  File lock;
  try {
    lock = File::open(lock_path, O_RDWR | O_CREAT);
    const Flock flock = try_flock(lock);
    const LockRecord holder = read_lock(lock);
    if (holder.run_id == run_id) return Taking::kJoined;
    const bool elsewhere = state_of(holder.holder) == ProcessState::kElsewhere;
    const bool takeover = claim.takeover && elsewhere && holder.holder.pid != 0;
    if (is_live(holder, flock, calendar_seconds()) && !takeover) throw_busy(where, holder);
    if (flock == Flock::kHeld) {  // by a host that is gone: it stays with that file
      file_system().unlink(lock_path);
      write_lock(lock, new_lock_record(run_id));  // for that host's run, should it live
      return Taking::kAgain;
    }
  } catch (...) {
    if (made == 0 && current_failure().status != ANADROME_ERR_BUSY) {
      if (lock) file_system().unlink(lock_path);
      file_system().remove_directory(where);
    }
    throw;
  }
  struct stat status {};
  if (::fstat(lock.get(), &status) == 0 && status.st_nlink == 0) return Taking::kAgain;
  lock_ = HeldLock(std::move(lock));
  run_id_ = run_id;
  try {
    if (made == -EEXIST) {
      remove_files(where, claim.leftovers, "remove an earlier run's file");
      ::chmod(where.c_str(), 0700);
    }
    write_lock(lock_, new_lock_record(run_id));
    // By it others judge, and this run at its end.
    const LockRecord written = read_lock(lock_);
    if (written.holder.pid == 0 || written.run_id != run_id) {
      throw Error(ANADROME_ERR_IO, lock_path + " does not hold what was written to it");
    }
  } catch (...) {  // the files of another run stay, though this one cannot go on
    if (claim.leftovers == Leftovers::kTakeOver) lock_.close();
    throw;
  }
  return Taking::kTaken;
}

RunDirectory RunDirectory::create_or_join(const std::string& parent, const std::string& name,
                                          const std::string& run_id, const Claim& claim) {
  const std::string lock_path = path(parent, name) + "/" + kLockName;
  bool joined = false;
  try {
    joined = read_lock(File::open(lock_path, O_RDONLY)).run_id == run_id;
  } catch (const Error&) {  // no such directory on this node yet
  }
  return joined ? RunDirectory{} : create(parent, name, run_id, claim);
}

std::optional<LockRecord> RunDirectory::holder_out_of_sight(const std::string& parent,
                                                            const std::string& name) noexcept {
  std::optional<LockRecord> holder;
  failure_from([&] {  // create says what is wrong
    const File lock = File::open(path(parent, name) + "/" + kLockName, O_RDWR);
    const Flock flock = try_flock(lock);
    const LockRecord record = read_lock(lock);
    if (state_of(record.holder) != ProcessState::kElsewhere) return;
    if (is_live(record, flock, calendar_seconds())) holder = record;
  });
  return holder;
}

bool RunDirectory::has_ended(const std::string& path) noexcept {
  bool ended = false;
  failure_from([&] {  // no lock, no end
    ended = read_lock(File::open(path + "/" + kLockName, O_RDONLY)).ended;
  });
  return ended;
}

Failure RunDirectory::find(const std::string& parent, const std::string& name,
                           const std::string& run_id, double seconds) {
  constexpr double kFirstPause = 0.01, kLongestPause = 0.5;
  const std::string where = path(parent, name);
  const double until = now_seconds() + seconds;
  for (double pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    Failure other = failure_from([&] { require_lock_of(run_id, where + "/" + kLockName); });
    if (other.status != ANADROME_ERR_ARGUMENT || now_seconds() >= until) return other;
    failure_from([&] { File::open(where, O_RDONLY | O_DIRECTORY); });  // asks for its names again
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
  }
}

// A holder that was taken for dead, and lives, must leave its successor's files alone. A file that
// cannot be read is no successor's. Who takes over writes into the lock that this run holds; one
// that is gone and says nothing of a successor was removed by somebody else.
void RunDirectory::require_lock() {
  const std::string lock_path = path_ + "/" + kLockName;
  const bool missing = ::access(lock_path.c_str(), F_OK) != 0 && errno == ENOENT;
  const bool gone = missing && is_removed(lock_);
  std::optional<LockRecord> holder;
  failure_from(
      [&] { holder = gone ? read_lock(lock_) : read_lock(File::open(lock_path, O_RDONLY)); });
  const bool another = holder && holder->holder.pid != 0 && holder->run_id != run_id_;
  if (!another && !gone) return;
  lock_.close();
  if (!another) {
    throw Error(ANADROME_ERR_IO, lock_path +
                                     " is gone, though this run still uses it: somebody removed "
                                     "it, or all of the directory");
  }
  if (!gone) throw_taken_over(path_, *holder);
  throw Error(ANADROME_ERR_BUSY, path_ +
                                     " was taken over by another run, which took this one "
                                     "for dead; that run has ended, too, and its files are "
                                     "gone");
}

void RunDirectory::note_end() noexcept {
  if (!owned()) return;
  failure_from([&] {
    bool noted = false;
    update_lock(lock_, run_id_, [&](LockRecord& record) { noted = record.ended = true; });
    if (!noted) return;
    const std::vector<std::string> names = files_in(path_);
    if (!names.empty() && is_journal(names.front())) lock_->sync();  // other nodes may be faster
  });
}

void RunDirectory::remove() {
  if (!owned()) return;
  require_lock();
  std::string foreign;
  try {
    foreign = remove_files(path_, Leftovers::kRemove, "remove");
  } catch (...) {
    lock_.close();  // when this process has ended, the rest is a dead run's
    throw;
  }
  const std::string lock_path = path_ + "/" + kLockName;
  file_system().unlink(lock_path);  // last: until then nobody else may come in
  const int gone = file_system().remove_directory(path_);
  lock_.close();
  if (gone >= 0) return;
  if (!foreign.empty()) {
    throw Error(ANADROME_ERR_ARGUMENT,
                path_ + " stays: it holds '" + foreign + "', which is not a run's");
  }
  // A storage server that is away does not say which files it has. Whoever came in has a lock.
  failure_from([&] {
    write_lock(File::open(lock_path, O_RDWR | O_CREAT | O_EXCL), new_lock_record(run_id_));
  });
  throw_errno(gone, "remove", path_);
}

void RunDirectory::keep() {
  if (!owned()) return;
  require_lock();
  file_system().unlink(HeartbeatFile::path(path_, run_id_));  // there with a watchdog only
  const int gone = file_system().unlink(path_ + "/" + kLockName);
  lock_.close();
  if (gone < 0) throw_errno(gone, "remove", path_ + "/" + kLockName);  // it would look dead
}

}  // namespace anadrome::store

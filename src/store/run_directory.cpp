#include "store/run_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "store/lock_record.h"
#include "store/run_files.h"

namespace anadrome::store {
namespace {

// A directory of that name exists: it may be used only if it is this library's, and this user's.
void require_ours(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) throw_errno(-errno, "examine", path);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) {
    throw Error(
        ANADROME_ERR_ARGUMENT,
        path + " exists and is not a directory of this user; set another name or directory");
  }
  for (const std::string& file : files_in(path)) {
    if (!is_run_file(file)) {
      throw Error(ANADROME_ERR_ARGUMENT,
                  path + " exists and holds '" + file +
                      "', which is not a run's; set another name or directory");
    }
  }
}

[[noreturn]] void throw_busy(const std::string& path, const LockRecord& holder) {
  const bool elsewhere = state_of(holder.holder) == ProcessState::kElsewhere;
  throw Error(ANADROME_ERR_BUSY,
              path + " is in use by a live run: " + describe_holder(holder, calendar_seconds()) +
                  "; set another name or directory" +
                  (elsewhere ? ", or takeover=on if that process is gone" : ", or end that one"));
}

// Removes the files of a run, as many as can be; not the lock, by which others find what is left.
void remove_files(const std::string& path, Leftovers leftovers, const std::string& verb) {
  int failed = 0;
  std::string left;
  for (const std::string& file : files_in(path)) {
    if (file == kLockName) continue;
    if (leftovers == Leftovers::kTakeOver && !is_heartbeat_file(file)) continue;
    const int gone = file_system().unlink(path + "/" + file);
    if (gone < 0 && gone != -ENOENT && failed == 0) {
      failed = gone;
      left = path + "/" + file;
    }
  }
  if (failed < 0) throw_errno(failed, verb, left);
}

}  // namespace

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
    if (directory.take(run_id, claim)) return directory;
  }
  throw_busy(path(parent, name), {});
}

// False if the lock that was taken is no file of the directory any more.
bool RunDirectory::take(const std::string& run_id, const Claim& claim) {
  const std::string& where = path_;
  const std::string lock_path = where + "/" + kLockName;
  const int made = file_system().make_directory(where, 0700);
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
    const bool elsewhere = state_of(holder.holder) == ProcessState::kElsewhere;
    const bool takeover = claim.takeover && elsewhere && holder.holder.pid != 0;
    if (is_live(holder, flock, calendar_seconds()) && !takeover) throw_busy(where, holder);
    if (flock == Flock::kHeld) {  // by a host that is gone: it stays with that file
      file_system().unlink(lock_path);
      return false;
    }
  } catch (const Error& error) {
    if (made == 0 && error.status() != ANADROME_ERR_BUSY) {
      if (lock) file_system().unlink(lock_path);
      file_system().remove_directory(where);
    }
    throw;
  }
  struct stat status {};
  if (::fstat(lock.get(), &status) == 0 && status.st_nlink == 0) return false;
  lock_ = std::move(lock);
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
  return true;
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

// A holder that was taken for dead, and lives, must leave its successor's files alone. A file that
// cannot be read is no successor's.
void RunDirectory::require_lock() {
  const std::string lock_path = path_ + "/" + kLockName;
  std::optional<LockRecord> holder;
  try {
    holder = read_lock(File::open(lock_path, O_RDONLY));
  } catch (const Error&) {
  }
  if (!holder || holder->holder.pid == 0 || holder->run_id == run_id_) return;
  lock_.close();
  throw_taken_over(path_, *holder);
}

void RunDirectory::remove() {
  if (!owned()) return;
  require_lock();
  try {
    remove_files(path_, Leftovers::kRemove, "remove");
  } catch (...) {
    lock_.close();  // when this process has ended, the rest is a dead run's
    throw;
  }
  file_system().unlink(path_ + "/" + kLockName);  // last: until then nobody else may come in
  const int gone = file_system().remove_directory(path_);
  lock_.close();
  if (gone < 0) throw_errno(gone, "remove", path_);
}

void RunDirectory::keep() {
  if (!owned()) return;
  require_lock();
  const int gone = file_system().unlink(path_ + "/" + kLockName);
  lock_.close();
  if (gone < 0) throw_errno(gone, "remove", path_ + "/" + kLockName);  // it would look dead
}

}  // namespace anadrome::store

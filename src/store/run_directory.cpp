#include "store/run_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
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

[[noreturn]] void throw_busy(const std::string& path) {
  throw Error(ANADROME_ERR_BUSY,
              path + " is in use by another live run; set another name or directory");
}

std::string content_of(const File& file) {
  std::string text(64, '\0');
  const ssize_t got = file_system().read(file.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
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
                                  const std::string& run_id, Leftovers leftovers) {
  const std::string where = path(parent, name);
  // Between opening the lock and having it, a run that ends may have removed it: then once more.
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    RunDirectory directory;
    directory.path_ = where;
    if (directory.take(run_id, leftovers)) return directory;
  }
  throw_busy(where);
}

// False if the lock that was taken is no file of the directory any more.
bool RunDirectory::take(const std::string& run_id, Leftovers leftovers) {
  const std::string& where = path_;
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
    lock = File::open(where + "/" + kLockName, O_RDWR | O_CREAT);
  } catch (const Error&) {
    if (made == 0) file_system().remove_directory(where);
    throw;
  }
  const int locked = file_system().lock(lock.get());
  if (locked == -EWOULDBLOCK) {
    throw_busy(where);
  }
  if (locked < 0) {
    if (made == 0) {
      file_system().unlink(where + "/" + kLockName);
      file_system().remove_directory(where);
    }
    throw_errno(locked, "lock", where);
  }
  struct stat status {};
  if (::fstat(lock.get(), &status) == 0 && status.st_nlink == 0) return false;
  lock_ = std::move(lock);
  if (made == -EEXIST && leftovers == Leftovers::kRemove) {
    for (const std::string& file : files_in(where)) {
      if (file == kLockName) continue;
      const int gone = file_system().unlink(where + "/" + file);
      if (gone < 0) throw_errno(gone, "remove an earlier run's file", where + "/" + file);
    }
    ::chmod(where.c_str(), 0700);
  }
  lock_.write_all(run_id.data(), run_id.size(), 0);
  return true;
}

RunDirectory RunDirectory::create_or_join(const std::string& parent, const std::string& name,
                                          const std::string& run_id, Leftovers leftovers) {
  const std::string lock_path = path(parent, name) + "/" + kLockName;
  bool joined = false;
  try {
    joined = content_of(File::open(lock_path, O_RDONLY)) == run_id;
  } catch (const Error&) {  // no such directory on this node yet
  }
  return joined ? RunDirectory{} : create(parent, name, run_id, leftovers);
}

void RunDirectory::remove() {
  if (!owned()) return;
  for (const std::string& file : files_in(path_)) {
    if (file != kLockName) file_system().unlink(path_ + "/" + file);
  }
  file_system().unlink(path_ + "/" + kLockName);  // last: until then nobody else may come in
  const int gone = file_system().remove_directory(path_);
  lock_.close();
  if (gone < 0) throw_errno(gone, "remove", path_);
}

void RunDirectory::keep() {
  if (owned()) file_system().unlink(path_ + "/" + kLockName);
  lock_.close();
}

}  // namespace anadrome::store

#include "store/run_listing.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/error.h"
#include "store/file_system.h"
#include "store/run_files.h"

namespace anadrome::store {
namespace {

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Holds the lock, if nobody else does.
std::optional<File> try_lock(const std::string& path) {
  File lock = File::open(path, O_RDWR | O_NONBLOCK);
  const int locked = file_system().lock(lock.get());
  if (locked == -EWOULDBLOCK) return std::nullopt;
  if (locked < 0) throw_errno(locked, "lock", path);
  return lock;
}

std::string text_of(const std::string& path) {
  const File file = File::open(path, O_RDONLY | O_NONBLOCK);
  std::string text(64, '\0');
  const ssize_t got = file_system().read(file.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

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
    if (name == kLockName) {
      has_lock = true;
    } else {
      run.files.push_back({name, status.st_size});
    }
  }
  if (!has_lock && run.files.empty()) return std::nullopt;
  std::sort(run.files.begin(), run.files.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.name < b.name; });
  if (has_lock) {
    const std::string lock = path + "/" + kLockName;
    run.lock = text_of(lock);
    run.state = try_lock(lock) ? RunState::kDead : RunState::kLive;
  }
  return run;
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

void remove_dead_run(const std::string& path) {
  const std::string lock_path = path + "/" + kLockName;
  if (!run_at(path)) throw Error(ANADROME_ERR_ARGUMENT, path + " is not a run's directory");
  struct stat status {};
  if (::lstat(lock_path.c_str(), &status) != 0) {
    throw Error(ANADROME_ERR_ARGUMENT, path + " has no lock: its run ended and kept its files");
  }
  const std::optional<File> lock = try_lock(lock_path);
  if (!lock) throw Error(ANADROME_ERR_BUSY, path + " is in use by a live run");
  // Between looking and locking, another may have removed it, or a new run may have begun.
  if (::fstat(lock->get(), &status) != 0 || status.st_nlink == 0) return;
  for (const std::string& name : files_in(path)) {
    if (name == kLockName || !is_run_file(name)) continue;
    const int gone = file_system().unlink(path + "/" + name);
    if (gone < 0) throw_errno(gone, "remove", path + "/" + name);
  }
  int gone = file_system().unlink(lock_path);  // last: until then nobody else may come in
  if (gone == 0) gone = file_system().remove_directory(path);
  if (gone < 0) throw_errno(gone, "remove", path);
}

}  // namespace anadrome::store

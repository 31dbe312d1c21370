// SPDX-License-Identifier: BSD-2-Clause
#include "store/files/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/platform/platform.h"

namespace anadrome::store {
namespace {

constexpr int kToList = O_RDONLY | O_DIRECTORY;

std::string without_slashes_behind(const std::string& path) {
  const auto last = path.find_last_not_of('/');
  return last == std::string::npos ? path : path.substr(0, last + 1);
}

// To go through, not to read: its user may be allowed no more.
File open_to_pass(int from, std::string path) {
  const int opened = ::openat(from, path.c_str(), platform::kPass | O_DIRECTORY | O_CLOEXEC);
  return {opened, std::move(path)};
}

std::optional<struct stat> status_at(int directory, const std::string& name) {
  struct stat status {};
  if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return status;
}

FileId id_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

[[noreturn]] void throw_no_directory(const std::string& path) {
  throw Error(ANADROME_ERR_ARGUMENT, path + " exists and is not a directory; set another name");
}

}  // namespace

FileId id_of(const File& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_errno(-errno, "examine", file.path());
  return id_of(status);
}

Directory Directory::hold(File file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_errno(-errno, "examine", file.path());
  Directory directory;
  directory.held_ =
      std::make_shared<const Held>(Held{std::move(file), status.st_uid, id_of(status)});
  return directory;
}

// A slash behind the name would have a symbolic link followed.
Directory Directory::open(const std::string& path) {
  const std::string plain = without_slashes_behind(path);
  const auto status = status_at(AT_FDCWD, plain);
  if (!status || !S_ISDIR(status->st_mode))
    throw Error(ANADROME_ERR_ARGUMENT, plain + " is not a directory");
  return hold(File::open(plain, kToList));
}

std::optional<Directory> Directory::find(const std::string& parent, const std::string& name) {
  const File above = open_to_pass(AT_FDCWD, parent);
  if (!above && errno == EMFILE) throw_errno(-EMFILE, "open", parent);
  const auto status = above ? status_at(above.get(), name) : std::nullopt;
  if (!status) return std::nullopt;
  if (!S_ISDIR(status->st_mode)) throw_no_directory(parent + "/" + name);
  return hold(File::open_in(above.get(), parent, name, kToList));
}

Directory Directory::make(const std::string& parent, const std::string& name, bool& made) {
  const std::string path = parent + "/" + name;
  made = false;
  const File above = open_to_pass(AT_FDCWD, parent);
  const int failed = above ? file_system().make_directory_in(above.get(), name, 0700) : -errno;
  if (failed == -EMFILE) throw_errno(failed, "create the run's directory", path);
  if (failed < 0 && failed != -EEXIST) {
    const bool none = failed == -ENOENT;
    const std::string why = none && above ? "no directory can be made there" : errno_text(-failed);
    throw Error(status_of_errno(-failed),
                "cannot create the run's directory " + path + ": " + why + "; " +
                    (none && !above ? "make the directory above it, or " : "") +
                    "set the option directory to one where that is possible");
  }
  made = failed == 0;
  const auto status = status_at(above.get(), name);
  if (status && !S_ISDIR(status->st_mode)) throw_no_directory(path);
  try {
    return hold(File::open_in(above.get(), parent, name, kToList));
  } catch (...) {
    if (made) file_system().remove_directory_in(above.get(), name);
    throw;
  }
}

std::optional<Directory> Directory::below(const std::string& name) const {
  const auto status = status_at(held_->file.get(), name);
  if (!status || !S_ISDIR(status->st_mode)) return std::nullopt;
  return hold(open_file(name, kToList));
}

int Directory::try_open(const std::string& name, int flags) const {
  return file_system().open_in(held_->file.get(), name, flags, 0);
}

int Directory::unlink(const std::string& name) const {
  return file_system().unlink_in(held_->file.get(), name);
}

std::optional<FileStatus> Directory::status(const std::string& name) const {
  const auto found = status_at(held_->file.get(), name);
  if (!found) return std::nullopt;
  constexpr std::int64_t kStatBlock = 512;  // of POSIX, whatever the file system's is
  return FileStatus{.regular = S_ISREG(found->st_mode),
                    .owner = found->st_uid,
                    .names = found->st_nlink,
                    .bytes = found->st_size,
                    .allocated = found->st_blocks * kStatBlock,
                    .changed = found->st_mtime,
                    .may_be_read = (found->st_mode & S_IRUSR) != 0};
}

// Opened once more, which also asks the server of a network file system for its names again.
std::vector<std::string> Directory::names() const {
  std::vector<std::string> names;
  const int again = ::openat(held_->file.get(), ".", kToList | O_CLOEXEC);
  DIR* const opened = again < 0 ? nullptr : ::fdopendir(again);
  if (opened == nullptr) {
    const int failed = errno;
    if (again >= 0) ::close(again);
    throw_errno(-failed, "list", path());
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opened, ::closedir);
  errno = 0;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;
  }
  if (errno != 0) throw_errno(-errno, "list", path());
  return names;
}

void Directory::sync() const { held_->file.sync(); }

void Directory::make_private() const { ::fchmod(held_->file.get(), 0700); }

bool Directory::lacks(const std::string& name) const {
  struct stat status {};
  return ::fstatat(held_->file.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 &&
         errno == ENOENT;
}

bool FilePlace::lacks() const {
  if (directory_) return directory_.lacks(name_);
  return ::access(name_.c_str(), F_OK) != 0 && errno == ENOENT;
}

File FilePlace::open(int flags, mode_t mode) const {
  return directory_ ? directory_.open_file(name_, flags, mode) : File::open(name_, flags, mode);
}

int FilePlace::try_open(int flags) const {
  return directory_ ? directory_.try_open(name_, flags) : file_system().open(name_, flags, 0);
}

int FilePlace::unlink() const {
  return directory_ ? directory_.unlink(name_) : file_system().unlink(name_);
}

bool Directory::has_another(const std::string& name, const File& file) const {
  struct stat mine {};
  const auto named = status_at(held_->file.get(), name);
  return named && ::fstat(file.get(), &mine) == 0 && id_of(*named) != id_of(mine);
}

int Directory::remove() const {
  std::string place = platform::path_now(held_->file.get());
  if (place.empty()) place = path();
  const std::string name = place.substr(place.rfind('/') + 1);
  const File above = open_to_pass(held_->file.get(), "..");
  const auto named = above ? status_at(above.get(), name) : std::nullopt;
  if (!named || id_of(*named) != id()) return -ENOENT;
  return file_system().remove_directory_in(above.get(), name);
}

}  // namespace anadrome::store

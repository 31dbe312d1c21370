// SPDX-License-Identifier: BSD-2-Clause
#include "store/files/file_system.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "base/platform/platform.h"

namespace anadrome::store {
namespace {

class PosixFileSystem final : public FileSystem {
 public:
  int open(const std::string& path, int flags, mode_t mode) override {
    return open_in(AT_FDCWD, path, flags, mode);
  }
  int close(int descriptor) override { return result(::close(descriptor)); }
  ssize_t write(int descriptor, const void* bytes, std::size_t count, off_t offset) override {
    if (is_too_long(offset + static_cast<off_t>(count))) return -EFBIG;
    const ssize_t written = ::pwrite(descriptor, bytes, count, offset);
    return written < 0 ? -errno : written;
  }
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override {
    const ssize_t got = ::pread(descriptor, bytes, count, offset);
    return got < 0 ? -errno : got;
  }
  void start(FileTransfer& transfer) override {
    const bool refused = is_too_long(transfer.offset + static_cast<off_t>(transfer.count));
    const bool direct = (::fcntl(transfer.descriptor, F_GETFL) & platform::kDirect) != 0;
    transfer.pending =
        !refused && direct &&
        platform::start_transfer(transfer.room, &transfer, transfer.write, transfer.descriptor,
                                 transfer.bytes, transfer.count, transfer.offset);
    if (!transfer.pending) FileSystem::start(transfer);
  }
  void finish(FileTransfer& transfer) override {
    while (transfer.pending) {
      const platform::FinishedTransfer done = platform::wait_for_transfer();
      FileTransfer& finished = *static_cast<FileTransfer*>(done.whose);
      finished.result = done.result;
      finished.pending = false;
    }
  }
  int allocate(int descriptor, off_t offset, off_t length) override {
    return is_too_long(offset + length) ? -EFBIG : platform::allocate(descriptor, offset, length);
  }
  void punch(int descriptor, off_t offset, off_t length) override {
    platform::punch(descriptor, offset, length);
  }
  void drop_cached(int descriptor) override { platform::drop_cached(descriptor, 0, 0); }
  int truncate(int descriptor, off_t length) override {
    return is_too_long(length) ? -EFBIG : result(::ftruncate(descriptor, length));
  }
  int sync(int descriptor) override {
    // fdatasync may leave out a directory's new entries: on ext4 those that do not lengthen it.
    struct stat status {};
    const bool directory = ::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
    return result(directory ? ::fsync(descriptor) : ::fdatasync(descriptor));
  }
  int lock(int descriptor) override { return result(::flock(descriptor, LOCK_EX | LOCK_NB)); }
  int make_directory(const std::string& path, mode_t mode) override {
    return make_directory_in(AT_FDCWD, path, mode);
  }
  int remove_directory(const std::string& path) override {
    return remove_directory_in(AT_FDCWD, path);
  }
  int unlink(const std::string& path) override { return unlink_in(AT_FDCWD, path); }
  int open_in(int directory, const std::string& name, int flags, mode_t mode) override {
    int descriptor;
    do {
      descriptor = ::openat(directory, name.c_str(), flags, mode);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor < 0 ? -errno : descriptor;
  }
  int make_directory_in(int directory, const std::string& name, mode_t mode) override {
    return result(::mkdirat(directory, name.c_str(), mode));
  }
  int remove_directory_in(int directory, const std::string& name) override {
    return result(::unlinkat(directory, name.c_str(), AT_REMOVEDIR));
  }
  int unlink_in(int directory, const std::string& name) override {
    return result(::unlinkat(directory, name.c_str(), 0));
  }
  bool in_memory(const std::string& path) override { return platform::in_memory(path.c_str()); }

 private:
  static int result(int status) { return status < 0 ? -errno : 0; }
};

PosixFileSystem posix;
std::atomic<FileSystem*> in_use{&posix};

}  // namespace

bool is_too_long(std::int64_t bytes) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  return static_cast<rlim_t>(bytes) > limit.rlim_cur;
}

FileSystem& file_system() { return *in_use.load(); }

void replace_file_system(FileSystem* replacement) {
  in_use.store(replacement != nullptr ? replacement : &posix);
}

void throw_errno(int negative_errno, const std::string& verb, const std::string& path) {
  throw Error(status_of_errno(-negative_errno),
              "cannot " + verb + " " + path + ": " + errno_text(-negative_errno));
}

void sync_directory(const std::string& path) { File::open(path, O_RDONLY | O_DIRECTORY).sync(); }

// What is above a symbolic link is not what is before it in the path: ".." stays.
std::string absolute_path(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::path absolute = std::filesystem::absolute(path, unknown);
  if (unknown) return path;
  if (path.find("..") != std::string::npos) return absolute.string();
  std::string plain = absolute.lexically_normal().string();
  while (plain.size() > 1 && plain.back() == '/') plain.pop_back();
  return plain;
}

void require_writable(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW;
  const int created = file_system().open(path, kFlags | O_CREAT | O_EXCL, 0644);
  if (created == -EEXIST) return File::open(path, kFlags).close();
  if (created < 0) throw_errno(created, "create", path);
  file_system().close(created);
  file_system().unlink(path);
}

File File::open(const std::string& path, int flags, mode_t mode) {
  return open_in(AT_FDCWD, "", path, flags, mode);
}

File File::open_in(int above, const std::string& above_path, const std::string& name, int flags,
                   mode_t mode) {
  File file;
  // First: what was created is not lost for want of memory.
  file.path_ = above_path.empty() ? name : above_path + "/" + name;
  const int all = flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int descriptor = above == AT_FDCWD ? file_system().open(name, all, mode)
                                           : file_system().open_in(above, name, all, mode);
  if (descriptor < 0) {
    throw_errno(descriptor, (flags & O_CREAT) != 0 ? "create" : "open", file.path_);
  }
  file.descriptor_ = descriptor;
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  if (!known || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return file;
  throw Error(ANADROME_ERR_IO, "cannot use " + file.path_ + ": it is no regular file");
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    path_ = std::move(other.path_);
  }
  return *this;
}

void File::close() {
  if (descriptor_ >= 0) file_system().close(descriptor_);
  descriptor_ = -1;
}

void File::write_all(const void* bytes, std::size_t count, off_t offset) const {
  const char* from = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = file_system().write(descriptor_, from, count, offset);
    if (written == -EINTR) continue;
    if (written <= 0) {
      throw_errno(written == 0 ? -EIO : static_cast<int>(written),
                  "write at byte " + std::to_string(offset) + " of", path_);
    }
    from += written;
    count -= size(written);
    offset += written;
  }
}

void File::sync() const {
  int synced = 0;
  do {
    synced = file_system().sync(descriptor_);
  } while (synced == -EINTR);
  if (synced < 0) throw_errno(synced, "sync", path_);
}

void File::start(FileTransfer& transfer) const {
  transfer.descriptor = descriptor_;
  file_system().start(transfer);
}

// Bytes that did not move in the first attempt follow in the usual way.
void File::finish(FileTransfer& transfer) const {
  file_system().finish(transfer);
  const ssize_t moved = transfer.result;
  const bool again = moved == -EINTR || moved == -EAGAIN;
  if (moved == static_cast<ssize_t>(transfer.count)) return;
  if (moved < 0 && !again) {
    throw_errno(static_cast<int>(moved),
                (transfer.write ? "write at byte " : "read at byte ") +
                    std::to_string(transfer.offset) + " of",
                path_);
  }
  const std::size_t done = again ? 0 : size(moved);
  char* rest = static_cast<char*>(transfer.bytes) + done;
  const off_t offset = transfer.offset + static_cast<off_t>(done);
  if (transfer.write) {
    write_all(rest, transfer.count - done, offset);
  } else {
    read_all(rest, transfer.count - done, offset);
  }
}

void File::read_all(void* bytes, std::size_t count, off_t offset) const {
  char* to = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = file_system().read(descriptor_, to, count, offset);
    if (got == -EINTR) continue;
    if (got == 0) {
      throw Error(ANADROME_ERR_CORRUPT,
                  path_ + " ends at byte " + std::to_string(offset) + ": it was truncated");
    }
    if (got < 0) {
      throw_errno(static_cast<int>(got), "read at byte " + std::to_string(offset) + " of", path_);
    }
    to += got;
    count -= size(got);
    offset += got;
  }
}

}  // namespace anadrome::store

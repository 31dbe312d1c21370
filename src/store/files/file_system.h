// SPDX-License-Identifier: BSD-2-Clause
// The one way to the disk: every open, allocate, read, write, sync and unlink of a state file goes
// through here, so that tests can make any of them fail. (HDF5 itself writes only skeletons on
// tmpfs, and the data of transport=mpio.)
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/platform/platform.h"

namespace anadrome::store {

/// One transfer between memory and a file.
struct FileTransfer {
  bool write = false;
  int descriptor = -1;
  void* bytes = nullptr;
  std::size_t count = 0;
  off_t offset = 0;
  ssize_t result = 0;    ///< as of FileSystem::read and write; set by finish
  bool pending = false;  ///< the system works on the request
  alignas(8) platform::TransferRoom room = {};
};

/// Functions return 0 (or a count) on success and a negative errno value on failure.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual int open(const std::string& path, int flags, mode_t mode) = 0;  ///< the descriptor
  virtual int close(int descriptor) = 0;
  virtual ssize_t write(int descriptor, const void* bytes, std::size_t count, off_t offset) = 0;
  virtual ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) = 0;
  /// Begin a transfer that may go on by itself, which O_DIRECT makes possible; otherwise it is done
  /// at once. `transfer` and its memory stay in place until finish, which the same thread calls.
  virtual void start(FileTransfer& transfer) {
    transfer.result =
        transfer.write ? write(transfer.descriptor, transfer.bytes, transfer.count, transfer.offset)
                       : read(transfer.descriptor, transfer.bytes, transfer.count, transfer.offset);
  }
  /// Wait until it is done.
  virtual void finish(FileTransfer& transfer) { transfer.pending = false; }
  virtual int allocate(int descriptor, off_t offset, off_t length) = 0;
  /// These bytes become zeros that take no room, if the file system can do that.
  virtual void punch([[maybe_unused]] int descriptor, [[maybe_unused]] off_t offset,
                     [[maybe_unused]] off_t length) {}
  /// The next read asks the disk or the server for its bytes: what the kernel has of the file may
  /// be older than what another host wrote.
  virtual void drop_cached(int descriptor) = 0;
  virtual int truncate(int descriptor, off_t length) = 0;
  virtual int sync(int descriptor) = 0;  ///< the bytes and what is needed to find them again
  virtual int lock(
      int descriptor) = 0;  ///< exclusive, not waiting; -EWOULDBLOCK if another holds it
  virtual int make_directory(const std::string& path, mode_t mode) = 0;
  virtual int remove_directory(const std::string& path) = 0;
  virtual int unlink(const std::string& path) = 0;
  /// The same of `name` in a directory that is open, wherever that is now. What stands in for the
  /// operating system may leave these as they are: they are done at the directory's present path.
  virtual int open_in(int directory, const std::string& name, int flags, mode_t mode) {
    return open(path_in(directory, name), flags, mode);
  }
  virtual int make_directory_in(int directory, const std::string& name, mode_t mode) {
    return make_directory(path_in(directory, name), mode);
  }
  virtual int remove_directory_in(int directory, const std::string& name) {
    return remove_directory(path_in(directory, name));
  }
  virtual int unlink_in(int directory, const std::string& name) {
    return unlink(path_in(directory, name));
  }
  /// Are the files of the directory at `path` in memory (tmpfs, ramfs)? False if nobody can tell.
  virtual bool in_memory([[maybe_unused]] const std::string& path) { return false; }

 private:
  static std::string path_in(int directory, const std::string& name) {
    return platform::path_now(directory) + "/" + name;
  }
};

/// May the process make no file of so many bytes (`ulimit -f`)? The kernel would end it.
bool is_too_long(std::int64_t bytes);

/// The file system in use: the operating system's, unless a test put another in its place.
FileSystem& file_system();

/// For tests: use `replacement` from now on (nullptr: the operating system's again).
void replace_file_system(FileSystem* replacement);

/// Owns a descriptor.
class File {
 public:
  File() = default;
  /// Takes what is open already.
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  /// Throws ERR_IO or ERR_NO_SPACE naming `path`. Always O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, and
  /// no device or pipe is opened: nothing that lies there makes this wait.
  static File open(const std::string& path, int flags, mode_t mode = 0600);
  /// `name` in the open directory `above`, whose path is for messages; AT_FDCWD and "": as above.
  static File open_in(int above, const std::string& above_path, const std::string& name, int flags,
                      mode_t mode = 0600);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File() { close(); }
  void close();
  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  const std::string& path() const { return path_; }

  /// All of it: short transfers continue, EINTR retries. Throws naming path and offset.
  void write_all(const void* bytes, std::size_t count, off_t offset) const;
  void read_all(void* bytes, std::size_t count, off_t offset) const;
  /// A whole transfer in two halves; finish throws.
  void start(FileTransfer& transfer) const;
  void finish(FileTransfer& transfer) const;
  /// Afterwards the written bytes last through a power loss. Throws.
  void sync() const;

 private:
  int descriptor_ = -1;
  std::string path_;
};

/// Make what was created in, or removed from, the directory at `path` last through a power loss.
/// Throws ERR_IO.
void sync_directory(const std::string& path);

/// Throws as opening `path` for writing does. A file that is there stays as it is, and none is left
/// where none was.
void require_writable(const std::string& path);
/// The same place wherever the process goes; `path` itself where nobody knows where it is now.
std::string absolute_path(const std::string& path);

/// Throws the Error for a failed operation: "cannot `verb` PATH: errno text".
[[noreturn]] void throw_errno(int negative_errno, const std::string& verb, const std::string& path);

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// A file system that does what the one before it does; others override what they change.
#pragma once

#include <cerrno>
#include <map>
#include <set>
#include <string>

#include "store/files/file_system.h"

namespace anadrome::test {

/// In use from construction to destruction, by this rank.
class ForwardingFileSystem : public store::FileSystem {
 public:
  ForwardingFileSystem() : real_(store::file_system()) { store::replace_file_system(this); }
  ~ForwardingFileSystem() override { store::replace_file_system(&real_); }
  ForwardingFileSystem(const ForwardingFileSystem&) = delete;
  ForwardingFileSystem& operator=(const ForwardingFileSystem&) = delete;

  int open(const std::string& path, int flags, mode_t mode) override {
    return below().open(path, flags, mode);
  }
  int close(int descriptor) override { return below().close(descriptor); }
  ssize_t write(int descriptor, const void* bytes, std::size_t count, off_t offset) override {
    return below().write(descriptor, bytes, count, offset);
  }
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override {
    return below().read(descriptor, bytes, count, offset);
  }
  void start(store::FileTransfer& transfer) override { below().start(transfer); }
  void finish(store::FileTransfer& transfer) override { below().finish(transfer); }
  int allocate(int descriptor, off_t offset, off_t length) override {
    return below().allocate(descriptor, offset, length);
  }
  void punch(int descriptor, off_t offset, off_t length) override {
    below().punch(descriptor, offset, length);
  }
  void drop_cached(int descriptor) override { below().drop_cached(descriptor); }
  int truncate(int descriptor, off_t length) override {
    return below().truncate(descriptor, length);
  }
  int sync(int descriptor) override { return below().sync(descriptor); }
  int lock(int descriptor) override { return below().lock(descriptor); }
  int make_directory(const std::string& path, mode_t mode) override {
    return below().make_directory(path, mode);
  }
  int remove_directory(const std::string& path) override { return below().remove_directory(path); }
  int unlink(const std::string& path) override { return below().unlink(path); }
  bool in_memory(const std::string& path) override { return below().in_memory(path); }

 protected:
  /// What does it: asked once for each operation.
  virtual store::FileSystem& below() { return real_; }

  store::FileSystem& real_;
};

// As NFS has it: what is removed while it is open stays in its directory under another name.
class KeepsWhatIsOpen final : public ForwardingFileSystem {
 public:
  int open(const std::string& path, int flags, mode_t mode) override {
    const int descriptor = real_.open(path, flags, mode);
    open_[descriptor] = path;
    return descriptor;
  }
  int close(int descriptor) override { return open_.erase(descriptor), real_.close(descriptor); }
  int unlink(const std::string& path) override { return removed_.insert(path), real_.unlink(path); }
  int remove_directory(const std::string& path) override {
    for (const auto& [descriptor, name] : open_)
      if (removed_.contains(name)) return -EBUSY;
    return real_.remove_directory(path);
  }

 private:
  std::map<int, std::string> open_;
  std::set<std::string> removed_;
};

}  // namespace anadrome::test

// SPDX-License-Identifier: BSD-2-Clause
// A file system that takes the world's time, and leaves transfers for as long as it may: what is
// written leaves its memory when it is waited for, what is read comes then. An early use of either
// is a wrong byte.
#pragma once

#include <fcntl.h>

#include <cstring>
#include <map>
#include <string>

#include "forwarding_file_system.h"
#include "world.h"

namespace anadrome::simulation {

class SlowFiles final : public test::ForwardingFileSystem {
 public:
  /// A process has fewer descriptors than ten thousand ranks: those of one file may be one.
  explicit SlowFiles(bool shares_descriptors = false) : shares_(shares_descriptors) {}

  int open(const std::string& path, int flags, mode_t mode) override {
    metadata("open");
    if (!shares_ || (flags & O_CREAT) != 0 || path.find("/segment-") == std::string::npos)
      return real_.open(path, flags, mode);
    Shared& shared = shared_[path + " " + std::to_string(flags)];
    if (shared.users == 0) shared.descriptor = real_.open(path, flags, mode);
    if (shared.descriptor >= 0) ++shared.users;
    return shared.descriptor;
  }
  int close(int descriptor) override {
    for (auto& [name, shared] : shared_) {
      if (shared.descriptor == descriptor && shared.users > 0 && --shared.users > 0) return 0;
    }
    return real_.close(descriptor);
  }
  ssize_t write(int descriptor, const void* bytes, std::size_t count, off_t offset) override {
    return transfer("write", count), real_.write(descriptor, bytes, count, offset);
  }
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override {
    return transfer("read", count), real_.read(descriptor, bytes, count, offset);
  }
  void start(store::FileTransfer& transfer) override {
    transfer.pending = true;
    if (!transfer.write) std::memset(transfer.bytes, 0xa5, transfer.count);
    pause();
  }
  void finish(store::FileTransfer& transfer) override {
    if (!transfer.pending) return;
    transfer.pending = false;
    transfer.result =
        transfer.write ? write(transfer.descriptor, transfer.bytes, transfer.count, transfer.offset)
                       : read(transfer.descriptor, transfer.bytes, transfer.count, transfer.offset);
  }
  int allocate(int descriptor, off_t offset, off_t length) override {
    return metadata("allocate"), real_.allocate(descriptor, offset, length);
  }
  int truncate(int descriptor, off_t length) override {
    return metadata("truncate"), real_.truncate(descriptor, length);
  }
  int sync(int descriptor) override { return metadata("fsync"), real_.sync(descriptor); }
  int lock(int descriptor) override { return metadata("lock"), real_.lock(descriptor); }
  int make_directory(const std::string& path, mode_t mode) override {
    return metadata("mkdir"), real_.make_directory(path, mode);
  }
  int remove_directory(const std::string& path) override {
    return metadata("rmdir"), real_.remove_directory(path);
  }
  int unlink(const std::string& path) override { return metadata("unlink"), real_.unlink(path); }

 private:
  struct Shared {
    int descriptor = -1, users = 0;
  };

  static void pause() {
    if (self() != nullptr) world()->pause();
  }
  static void metadata(const char* what) {
    if (self() != nullptr) world()->queue(world()->costs().metadata, what);
  }
  static void transfer(const char* what, std::size_t bytes) {
    if (self() == nullptr) return;
    if (self()->name == "solver")
      return metadata(what);  // of no state: it stays in the system's cache
    const Costs& costs = world()->costs();
    world()->spend_about(costs.transfer + costs.per_file_byte * static_cast<double>(bytes), what);
  }

  const bool shares_;
  std::map<std::string, Shared> shared_;
};

}  // namespace anadrome::simulation

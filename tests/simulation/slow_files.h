// SPDX-License-Identifier: BSD-2-Clause
// A file system that takes the world's time, and leaves transfers for as long as it may: what is
// written leaves its memory when it is waited for, what is read comes then. An early use of either
// is a wrong byte.
#pragma once

#include <fcntl.h>

#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "forwarding_file_system.h"
#include "world.h"

namespace anadrome::simulation {

class SlowFiles final : public test::ForwardingFileSystem {
 public:
  /// A process has fewer descriptors than ten thousand ranks open files. With `many`, those of
  /// files are numbers of its own, of which the last used are open; directories are as they are.
  explicit SlowFiles(bool many = false) : many_(many) {
    if (many) numbered_ = this;
  }
  ~SlowFiles() override {
    if (numbered_ == this) numbered_ = nullptr;
  }

  int open(const std::string& path, int flags, mode_t mode) override {
    metadata("open");
    const int opened = real_.open(path, flags, mode);
    if (!many_ || opened < 0 || (flags & O_DIRECTORY) != 0) return opened;
    files_[++last_] = {path, flags & ~(O_CREAT | O_EXCL | O_TRUNC), opened, false};
    note_opened(last_);
    return last_;
  }
  int close(int descriptor) override {
    const auto found = files_.find(descriptor);
    if (found == files_.end()) return real_.close(descriptor);
    const int opened = found->second.opened;
    files_.erase(found);
    if (opened < 0) return 0;
    --open_now_;
    return real_.close(opened);
  }
  /// The descriptor that the system knows.
  static int of_system(int descriptor) {
    return numbered_ != nullptr ? numbered_->system(descriptor) : descriptor;
  }
  ssize_t write(int descriptor, const void* bytes, std::size_t count, off_t offset) override {
    return transfer("write", count), real_.write(system(descriptor), bytes, count, offset);
  }
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override {
    return transfer("read", count), real_.read(system(descriptor), bytes, count, offset);
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
    return metadata("allocate"), real_.allocate(system(descriptor), offset, length);
  }
  int truncate(int descriptor, off_t length) override {
    return metadata("truncate"), real_.truncate(system(descriptor), length);
  }
  int sync(int descriptor) override { return metadata("fsync"), real_.sync(system(descriptor)); }
  int lock(int descriptor) override {
    const auto found = files_.find(descriptor);
    const int locked = (metadata("lock"), real_.lock(system(descriptor)));
    if (found != files_.end()) found->second.stays = true;  // closed, it would lose its lock
    return locked;
  }
  void punch(int descriptor, off_t offset, off_t length) override {
    real_.punch(system(descriptor), offset, length);
  }
  void drop_cached(int descriptor) override { real_.drop_cached(system(descriptor)); }
  int make_directory(const std::string& path, mode_t mode) override {
    return metadata("mkdir"), real_.make_directory(path, mode);
  }
  int remove_directory(const std::string& path) override {
    return metadata("rmdir"), real_.remove_directory(path);
  }
  int unlink(const std::string& path) override { return metadata("unlink"), real_.unlink(path); }

 private:
  struct Numbered {
    std::string path;
    int flags = 0, opened = -1;
    bool stays = false;
  };
  static constexpr int kFirst = 1 << 24, kMostOpen = 4000;

  int system(int descriptor) {
    const auto found = files_.find(descriptor);
    if (found == files_.end()) return descriptor;
    Numbered& file = found->second;
    if (file.opened < 0) {
      file.opened = real_.open(file.path, file.flags, 0);
      if (file.opened >= 0) note_opened(descriptor);
    }
    return file.opened;
  }
  /// Closes the one that was opened first where there are too many.
  void note_opened(int descriptor) {
    opened_.push_back(descriptor);
    ++open_now_;
    for (std::size_t left = opened_.size(); open_now_ > kMostOpen && left > 1; --left) {
      const auto found = files_.find(opened_.front());
      const int first = opened_.front();
      opened_.pop_front();
      if (found == files_.end() || found->second.opened < 0) continue;
      if (found->second.stays) {
        opened_.push_back(first);
        continue;
      }
      real_.close(std::exchange(found->second.opened, -1));
      --open_now_;
    }
  }

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

  const bool many_;
  std::map<int, Numbered> files_;
  std::deque<int> opened_;  ///< in the order in which they were opened; some are closed since
  int last_ = kFirst, open_now_ = 0;
  static inline SlowFiles* numbered_ = nullptr;
};

}  // namespace anadrome::simulation

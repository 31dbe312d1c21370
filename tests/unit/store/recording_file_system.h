// SPDX-License-Identifier: BSD-2-Clause
// A file system in front of the real one: notes the transfers, and lets a test answer in its place.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "forwarding_file_system.h"

namespace anadrome::store {

/// In use from construction to destruction.
class RecordingFileSystem final : public test::ForwardingFileSystem {
 public:
  struct Call {
    bool write;
    std::size_t count;
    off_t offset;
  };
  /// Returns true, and the result, to answer a transfer without the real file system.
  using Answer = std::function<bool(const Call&, ssize_t& result)>;

  explicit RecordingFileSystem(Answer answer = {}) : answer_(std::move(answer)) {}

  std::vector<Call> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

  ssize_t write(int descriptor, const void* bytes, std::size_t count, off_t offset) override {
    ssize_t result = 0;
    std::size_t allowed = count;
    if (answered({true, count, offset}, result, allowed)) return result;
    return real_.write(descriptor, bytes, allowed, offset);
  }
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override {
    ssize_t result = 0;
    std::size_t allowed = count;
    if (answered({false, count, offset}, result, allowed)) return result;
    return real_.read(descriptor, bytes, allowed, offset);
  }
  /// Real transfers move at most so many bytes in one call; 0: no limit.
  void cut_short_at(std::size_t bytes) { most_ = bytes; }

  void start(FileTransfer& transfer) override { FileSystem::start(transfer); }

 private:
  bool answered(const Call& call, ssize_t& result, std::size_t& allowed) {
    {
      const std::lock_guard lock(mutex_);
      calls_.push_back(call);
    }
    if (most_ > 0 && allowed > most_) allowed = most_;
    return answer_ && answer_(call, result);
  }

  const Answer answer_;
  std::size_t most_ = 0;
  mutable std::mutex mutex_;  // guards calls_: the I/O thread writes, the test reads
  std::vector<Call> calls_;
};

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// File systems in front of the real one, each in use from construction to destruction.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "forwarding_file_system.h"

namespace anadrome::test {

/// Files whose bytes move at the last moment that is allowed: when somebody waits for them. Memory
/// that is used for something else before that shows as wrong bytes, each time.
class LateFileSystem final : public ForwardingFileSystem {
 public:
  void start(store::FileTransfer& transfer) override {
    transfer.pending = true;
    ++under_way_;
  }
  void finish(store::FileTransfer& transfer) override {
    if (!transfer.pending) return;
    store::FileSystem::start(transfer);
    transfer.pending = false;
    --under_way_;
  }
  /// Transfers for which nobody has waited yet.
  int under_way() const { return under_way_; }

 private:
  std::atomic<int> under_way_ = 0;
};

/// As a client of a network file system whose kernel keeps what it read once, though other hosts
/// write to the file; for one file, which is read in the same pieces each time.
class CachingFileSystem final : public ForwardingFileSystem {
 public:
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override {
    std::string& piece = pieces_[{offset, count}];
    if (piece.empty()) {
      const ssize_t got = ForwardingFileSystem::read(descriptor, bytes, count, offset);
      if (got > 0) piece.assign(static_cast<char*>(bytes), static_cast<std::size_t>(got));
      return got;
    }
    return static_cast<ssize_t>(piece.copy(static_cast<char*>(bytes), count));
  }
  void drop_cached(int descriptor) override {
    pieces_.clear();
    ForwardingFileSystem::drop_cached(descriptor);
  }

 private:
  std::map<std::pair<off_t, std::size_t>, std::string> pieces_;
};

/// Notes the transfers, and lets a test answer in its place.
class RecordingFileSystem final : public ForwardingFileSystem {
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
    return answered({true, count, offset},
                    [&](std::size_t most) { return real_.write(descriptor, bytes, most, offset); });
  }
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override {
    return answered({false, count, offset},
                    [&](std::size_t most) { return real_.read(descriptor, bytes, most, offset); });
  }
  /// Real transfers move at most so many bytes in one call; 0: no limit.
  void cut_short_at(std::size_t bytes) { most_ = bytes; }

  void start(store::FileTransfer& transfer) override { store::FileSystem::start(transfer); }

 private:
  template <class Real>
  ssize_t answered(const Call& call, const Real& real) {
    {
      const std::lock_guard lock(mutex_);
      calls_.push_back(call);
    }
    ssize_t result = 0;
    if (answer_ && answer_(call, result)) return result;
    return real(most_ > 0 ? std::min(most_, call.count) : call.count);
  }

  const Answer answer_;
  std::size_t most_ = 0;
  mutable std::mutex mutex_;  // guards calls_: the I/O thread writes, the test reads
  std::vector<Call> calls_;
};

}  // namespace anadrome::test

// A file system in which one chosen operation goes wrong, or all from then on.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "store/file_system.h"

namespace anadrome::test {

enum class Operation {
  kOpen,
  kWrite,
  kRead,
  kAllocate,
  kTruncate,
  kSync,
  kLock,
  kMakeDirectory,
  kRemoveDirectory,
  kUnlink
};
inline constexpr std::size_t kOperations = 10;

enum class Fault {
  kNone,
  kIoError,      ///< EIO
  kNoSpace,      ///< ENOSPC
  kInterrupted,  ///< EINTR, once: nothing was moved
  kShort,        ///< only a part is moved
  kFlippedBit,   ///< one bit of what was read is wrong
  kLost          ///< a write says it was done, and was not
};

/// In use from construction to destruction, by this rank.
class FaultyFileSystem final : public store::FileSystem {
 public:
  FaultyFileSystem();
  ~FaultyFileSystem() override;

  /// From now on count afresh, and let operation number `at` (from 1) of this kind go wrong;
  /// `lasting`: and all later ones.
  void arm(Operation operation, std::int64_t at, Fault fault, bool lasting = false);
  void disarm() { arm(Operation::kOpen, 0, Fault::kNone); }
  std::int64_t count(Operation operation) const {
    return counts_[static_cast<std::size_t>(operation)].load();
  }
  bool hit() const { return hit_.load(); }
  /// Every write takes so much longer from now on.
  void delay_writes(std::chrono::microseconds delay) { delay_ = delay.count(); }

  int open(const std::string& path, int flags, mode_t mode) override;
  int close(int descriptor) override { return real_.close(descriptor); }
  ssize_t write(int descriptor, const void* bytes, std::size_t count, off_t offset) override;
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override;
  int allocate(int descriptor, off_t offset, off_t length) override;
  int truncate(int descriptor, off_t length) override;
  int sync(int descriptor) override;
  int lock(int descriptor) override;
  int make_directory(const std::string& path, mode_t mode) override;
  int remove_directory(const std::string& path) override;
  int unlink(const std::string& path) override;

 private:
  /// Counts the operation; what is to go wrong with it.
  Fault next(Operation operation);

  store::FileSystem& real_;
  std::array<std::atomic<std::int64_t>, kOperations> counts_{};
  // Written by the caller's thread while the I/O thread is idle, read by both.
  std::atomic<Operation> operation_{Operation::kOpen};
  std::atomic<std::int64_t> at_{0};
  std::atomic<Fault> fault_{Fault::kNone};
  std::atomic<bool> lasting_{false};
  std::atomic<bool> hit_{false};
  std::atomic<std::int64_t> delay_{0};
};

}  // namespace anadrome::test

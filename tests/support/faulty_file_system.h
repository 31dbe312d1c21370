// SPDX-License-Identifier: BSD-2-Clause
// A file system in which one chosen operation goes wrong, or all of its kind from then on.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "forwarding_file_system.h"

namespace anadrome::test {

enum class Operation {
  kOpen,
  kClose,
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
inline constexpr std::size_t kOperations = 11;
const char* to_string(Operation operation);

enum class Fault {
  kNone,
  kIoError,      ///< EIO
  kNoSpace,      ///< ENOSPC
  kNoQuota,      ///< EDQUOT
  kInterrupted,  ///< EINTR: nothing was moved
  kShort,        ///< only a part is moved
  kTorn,         ///< a part is moved, and then EIO
  kDelayed,      ///< it takes longer
  kFlippedBit,   ///< one bit of what was read is wrong
  kCorrupted,    ///< other bytes than those written are on disk, in one sector
  kLost          ///< a write says it was done, and was not
};
inline constexpr std::size_t kFaults = 11;
const char* to_string(Fault fault);

/// Can this go wrong with that operation?
bool applies(Fault fault, Operation operation);

class FaultyFileSystem final : public ForwardingFileSystem {
 public:
  ~FaultyFileSystem() override { store::replace_file_system(&real_); }  // before its counts go
  /// From now on count afresh, and let operation number `at` (from 1) of this kind go wrong;
  /// `lasting`: and all later ones.
  void arm(Operation operation, std::int64_t at, Fault fault, bool lasting = false);
  /// Only what has this text in its path is counted, and goes wrong, from now on.
  void only_in(const std::string& path);
  void disarm() { arm(Operation::kOpen, 0, Fault::kNone); }
  std::int64_t count(Operation operation) const;
  bool hit() const { return hit_; }
  void wait_until_hit() const { hit_.wait(false); }
  /// Every write takes so much longer from now on.
  void delay_writes(std::chrono::microseconds delay);

  int open(const std::string& path, int flags, mode_t mode) override;
  int close(int descriptor) override;
  ssize_t write(int descriptor, const void* bytes, std::size_t count, off_t offset) override;
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override;
  void start(store::FileTransfer& transfer) override;
  void finish(store::FileTransfer& transfer) override;
  int allocate(int descriptor, off_t offset, off_t length) override;
  int truncate(int descriptor, off_t length) override;
  int sync(int descriptor) override;
  int lock(int descriptor) override;
  int make_directory(const std::string& path, mode_t mode) override;
  int remove_directory(const std::string& path) override;
  int unlink(const std::string& path) override;

 private:
  /// The fault of an operation, and a number that says where in its bytes.
  struct Verdict {
    Fault fault = Fault::kNone;
    std::uint64_t number = 0;
  };
  /// Counts the operation; waits if it is a slow one.
  Verdict next(Operation operation, int descriptor = -1);
  Verdict next(Operation operation, const std::string& path);
  Verdict verdict_on(Operation operation);
  /// An operation without bytes that fails or does not.
  template <class Where, class Body>
  int perform(Operation operation, const Where& where, Body&& body);
  ssize_t faulty_write(const Verdict& verdict, int descriptor, const void* bytes, std::size_t count,
                       off_t offset);
  ssize_t faulty_read(const Verdict& verdict, int descriptor, void* bytes, std::size_t count,
                      off_t offset);

  mutable std::mutex mutex_;  // guards all of the below: the caller and the I/O thread come here
  std::array<std::int64_t, kOperations> counts_{};
  Operation operation_ = Operation::kOpen;
  std::int64_t at_ = 0;
  Fault fault_ = Fault::kNone;
  bool lasting_ = false;
  std::atomic<bool> hit_ = false;
  std::chrono::microseconds write_delay_{0};
  std::string only_in_;
  std::set<int> elsewhere_;  ///< descriptors of other paths
  /// Reads under way whose bytes are to be spoilt when they are there.
  std::set<std::pair<store::FileTransfer*, std::uint64_t>> to_spoil_;
};

}  // namespace anadrome::test

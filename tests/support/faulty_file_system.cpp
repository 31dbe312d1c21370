// SPDX-License-Identifier: BSD-2-Clause
#include "faulty_file_system.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

namespace anadrome::test {
namespace {

int error_of(Fault fault) {
  switch (fault) {
    case Fault::kIoError:
      return -EIO;
    case Fault::kNoSpace:
      return -ENOSPC;
    case Fault::kNoQuota:
      return -EDQUOT;
    case Fault::kInterrupted:
      return -EINTR;
    default:
      return 0;
  }
}

constexpr std::size_t kSector = 512;

// A part that direct I/O accepts: it moves whole sectors.
std::size_t part_of(std::size_t count) {
  if (count % kSector != 0) return (count + 1) / 2;
  return std::max(kSector, count / 2 / kSector * kSector);
}

// Spreads operation numbers over the bytes.
std::uint64_t scatter(std::uint64_t number) {
  number *= 0x9e3779b97f4a7c15U;
  return number ^ (number >> 29);
}

void flip_bit(void* bytes, std::size_t count, std::uint64_t number) {
  static_cast<unsigned char*>(bytes)[scatter(number) % count] ^=
      static_cast<unsigned char>(1U << (number % 8));
}

}  // namespace

const char* to_string(Operation operation) {
  constexpr std::array<const char*, kOperations> kNames = {
      "open",     "close", "write", "read",           "allocate",
      "truncate", "sync",  "lock",  "make_directory", "remove_directory",
      "unlink"};
  return kNames[static_cast<std::size_t>(operation)];
}

const char* to_string(Fault fault) {
  constexpr std::array<const char*, kFaults> kNames = {
      "none", "EIO",     "ENOSPC",      "EDQUOT",    "EINTR", "short",
      "torn", "delayed", "flipped bit", "corrupted", "lost"};
  return kNames[static_cast<std::size_t>(fault)];
}

bool applies(Fault fault, Operation operation) {
  const bool write = operation == Operation::kWrite, read = operation == Operation::kRead;
  switch (fault) {
    case Fault::kNone:
      return false;
    case Fault::kIoError:
    case Fault::kDelayed:
      return true;
    case Fault::kNoSpace:
    case Fault::kNoQuota:  // what makes no new bytes does not run out of them
      return !read && operation != Operation::kLock && operation != Operation::kUnlink &&
             operation != Operation::kRemoveDirectory;
    case Fault::kInterrupted:
    case Fault::kShort:
      return write || read;
    case Fault::kTorn:
    case Fault::kCorrupted:
    case Fault::kLost:
      return write;
    case Fault::kFlippedBit:
      return read;
  }
  return false;
}

void FaultyFileSystem::arm(Operation operation, std::int64_t at, Fault fault, bool lasting) {
  const std::lock_guard lock(mutex_);
  counts_ = {};
  operation_ = operation;
  at_ = at;
  lasting_ = lasting;
  hit_ = false;
  fault_ = fault;
}

std::int64_t FaultyFileSystem::count(Operation operation) const {
  const std::lock_guard lock(mutex_);
  return counts_[static_cast<std::size_t>(operation)];
}

void FaultyFileSystem::delay_writes(std::chrono::microseconds delay) {
  const std::lock_guard lock(mutex_);
  write_delay_ = delay;
}

void FaultyFileSystem::only_in(const std::string& path) {
  const std::lock_guard lock(mutex_);
  only_in_ = path;
}

FaultyFileSystem::Verdict FaultyFileSystem::next(Operation operation, int descriptor) {
  {
    const std::lock_guard lock(mutex_);
    if (elsewhere_.count(descriptor) > 0) return {};
  }
  return verdict_on(operation);
}

FaultyFileSystem::Verdict FaultyFileSystem::next(Operation operation, const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (path.find(only_in_) == std::string::npos) return {};
  }
  return verdict_on(operation);
}

FaultyFileSystem::Verdict FaultyFileSystem::verdict_on(Operation operation) {
  using std::chrono::microseconds;
  constexpr microseconds kOnce{2000}, kEachTime{200};
  Verdict verdict;
  microseconds delay{0};
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t number = ++counts_[static_cast<std::size_t>(operation)];
    const bool chosen =
        operation == operation_ && (lasting_ ? number >= at_ : number == at_) && at_ > 0;
    if (chosen && fault_ != Fault::kNone) {
      hit_ = true;
      hit_.notify_all();
      verdict = {fault_, static_cast<std::uint64_t>(number)};
      // A system that interrupts every call does not exist; whoever retries would retry for ever.
      if (fault_ == Fault::kInterrupted && number % 2 != at_ % 2) verdict = {};
    }
    if (verdict.fault == Fault::kDelayed) delay = lasting_ ? kEachTime : kOnce;
    if (operation == Operation::kWrite) delay += write_delay_;
  }
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  return verdict;
}

template <class Where, class Body>
int FaultyFileSystem::perform(Operation operation, const Where& where, Body&& body) {
  const int error = error_of(next(operation, where).fault);
  return error != 0 ? error : body();
}

ssize_t FaultyFileSystem::faulty_write(const Verdict& verdict, int descriptor, const void* bytes,
                                       std::size_t count, off_t offset) {
  const int error = error_of(verdict.fault);
  if (error != 0) return error;
  switch (verdict.fault) {
    case Fault::kShort:
      return real_.write(descriptor, bytes, part_of(count), offset);
    case Fault::kTorn:
      real_.write(descriptor, bytes, part_of(count), offset);
      return -EIO;
    case Fault::kLost:
      return static_cast<ssize_t>(count);
    case Fault::kCorrupted: {
      constexpr std::size_t kPage = 4096;
      const std::unique_ptr<void, void (*)(void*)> copy(
          std::aligned_alloc(kPage, (count + kPage - 1) / kPage * kPage), std::free);
      std::memcpy(copy.get(), bytes, count);
      const std::size_t from =
          scatter(verdict.number) % ((count + kSector - 1) / kSector) * kSector;
      std::memset(static_cast<char*>(copy.get()) + from, 0xdb, std::min(kSector, count - from));
      return real_.write(descriptor, copy.get(), count, offset);
    }
    default:
      return real_.write(descriptor, bytes, count, offset);
  }
}

ssize_t FaultyFileSystem::faulty_read(const Verdict& verdict, int descriptor, void* bytes,
                                      std::size_t count, off_t offset) {
  const int error = error_of(verdict.fault);
  if (error != 0) return error;
  const std::size_t asked = verdict.fault == Fault::kShort ? part_of(count) : count;
  const ssize_t got = real_.read(descriptor, bytes, asked, offset);
  if (verdict.fault == Fault::kFlippedBit && got > 0) {
    flip_bit(bytes, static_cast<std::size_t>(got), verdict.number);
  }
  return got;
}

int FaultyFileSystem::open(const std::string& path, int flags, mode_t mode) {
  return perform(Operation::kOpen, path, [&] {
    const int descriptor = real_.open(path, flags, mode);
    const std::lock_guard lock(mutex_);
    elsewhere_.erase(descriptor);
    if (descriptor >= 0 && path.find(only_in_) == std::string::npos) elsewhere_.insert(descriptor);
    return descriptor;
  });
}

// Even a close that fails gives the descriptor back, as Linux does.
int FaultyFileSystem::close(int descriptor) {
  const int closed = real_.close(descriptor);
  return perform(Operation::kClose, descriptor, [&] { return closed; });
}

ssize_t FaultyFileSystem::write(int descriptor, const void* bytes, std::size_t count,
                                off_t offset) {
  return faulty_write(next(Operation::kWrite, descriptor), descriptor, bytes, count, offset);
}

ssize_t FaultyFileSystem::read(int descriptor, void* bytes, std::size_t count, off_t offset) {
  return faulty_read(next(Operation::kRead, descriptor), descriptor, bytes, count, offset);
}

void FaultyFileSystem::start(store::FileTransfer& transfer) {
  const Verdict verdict =
      next(transfer.write ? Operation::kWrite : Operation::kRead, transfer.descriptor);
  const auto& [write, descriptor, bytes, count, offset, result, pending, request] = transfer;
  if (verdict.fault == Fault::kNone || verdict.fault == Fault::kDelayed) {
    real_.start(transfer);
  } else if (verdict.fault == Fault::kFlippedBit) {
    real_.start(transfer);
    const std::lock_guard lock(mutex_);
    to_spoil_.insert({&transfer, verdict.number});
  } else {
    transfer.pending = false;
    transfer.result = write ? faulty_write(verdict, descriptor, bytes, count, offset)
                            : faulty_read(verdict, descriptor, bytes, count, offset);
  }
}

void FaultyFileSystem::finish(store::FileTransfer& transfer) {
  real_.finish(transfer);
  const std::lock_guard lock(mutex_);
  const auto found = to_spoil_.lower_bound({&transfer, 0});
  if (found == to_spoil_.end() || found->first != &transfer) return;
  if (transfer.result > 0) {
    flip_bit(transfer.bytes, static_cast<std::size_t>(transfer.result), found->second);
  }
  to_spoil_.erase(found);
}

int FaultyFileSystem::allocate(int descriptor, off_t offset, off_t length) {
  return perform(Operation::kAllocate, descriptor,
                 [&] { return real_.allocate(descriptor, offset, length); });
}

int FaultyFileSystem::truncate(int descriptor, off_t length) {
  return perform(Operation::kTruncate, descriptor,
                 [&] { return real_.truncate(descriptor, length); });
}

int FaultyFileSystem::sync(int descriptor) {
  return perform(Operation::kSync, descriptor, [&] { return real_.sync(descriptor); });
}

int FaultyFileSystem::lock(int descriptor) {
  return perform(Operation::kLock, descriptor, [&] { return real_.lock(descriptor); });
}

int FaultyFileSystem::make_directory(const std::string& path, mode_t mode) {
  return perform(Operation::kMakeDirectory, path, [&] { return real_.make_directory(path, mode); });
}

int FaultyFileSystem::remove_directory(const std::string& path) {
  return perform(Operation::kRemoveDirectory, path, [&] { return real_.remove_directory(path); });
}

int FaultyFileSystem::unlink(const std::string& path) {
  return perform(Operation::kUnlink, path, [&] { return real_.unlink(path); });
}

}  // namespace anadrome::test

#include "faulty_file_system.h"

#include <algorithm>
#include <cerrno>
#include <thread>

namespace anadrome::test {
namespace {

int error_of(Fault fault) {
  switch (fault) {
    case Fault::kIoError:
      return -EIO;
    case Fault::kNoSpace:
      return -ENOSPC;
    default:
      return 0;
  }
}

// A part that direct I/O accepts, if there is one.
std::size_t part_of(std::size_t count) {
  constexpr std::size_t kSector = 512;
  return count > kSector ? std::max(kSector, count / 2 / kSector * kSector) : (count + 1) / 2;
}

}  // namespace

FaultyFileSystem::FaultyFileSystem() : real_(store::file_system()) {
  store::replace_file_system(this);
}

FaultyFileSystem::~FaultyFileSystem() { store::replace_file_system(nullptr); }

void FaultyFileSystem::arm(Operation operation, std::int64_t at, Fault fault, bool lasting) {
  fault_ = Fault::kNone;
  for (auto& count : counts_) count = 0;
  operation_ = operation;
  at_ = at;
  lasting_ = lasting;
  hit_ = false;
  fault_ = fault;
}

Fault FaultyFileSystem::next(Operation operation) {
  const std::int64_t number = ++counts_[static_cast<std::size_t>(operation)];
  if (operation != operation_ || (lasting_ ? number < at_ : number != at_)) return Fault::kNone;
  if (fault_ != Fault::kNone) hit_ = true;
  return fault_;
}

int FaultyFileSystem::open(const std::string& path, int flags, mode_t mode) {
  const int error = error_of(next(Operation::kOpen));
  return error != 0 ? error : real_.open(path, flags, mode);
}

ssize_t FaultyFileSystem::write(int descriptor, const void* bytes, std::size_t count,
                                off_t offset) {
  const Fault fault = next(Operation::kWrite);
  if (delay_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_));
  if (fault == Fault::kInterrupted) return -EINTR;
  if (fault == Fault::kShort) return real_.write(descriptor, bytes, part_of(count), offset);
  if (fault == Fault::kLost) return static_cast<ssize_t>(count);
  const int error = error_of(fault);
  return error != 0 ? error : real_.write(descriptor, bytes, count, offset);
}

ssize_t FaultyFileSystem::read(int descriptor, void* bytes, std::size_t count, off_t offset) {
  const Fault fault = next(Operation::kRead);
  if (fault == Fault::kInterrupted) return -EINTR;
  if (fault == Fault::kShort) return real_.read(descriptor, bytes, part_of(count), offset);
  const int error = error_of(fault);
  if (error != 0) return error;
  const ssize_t got = real_.read(descriptor, bytes, count, offset);
  if (fault == Fault::kFlippedBit && got > 0) static_cast<unsigned char*>(bytes)[0] ^= 0x10U;
  return got;
}

int FaultyFileSystem::allocate(int descriptor, off_t offset, off_t length) {
  const int error = error_of(next(Operation::kAllocate));
  return error != 0 ? error : real_.allocate(descriptor, offset, length);
}

int FaultyFileSystem::truncate(int descriptor, off_t length) {
  const int error = error_of(next(Operation::kTruncate));
  return error != 0 ? error : real_.truncate(descriptor, length);
}

int FaultyFileSystem::sync(int descriptor) {
  const int error = error_of(next(Operation::kSync));
  return error != 0 ? error : real_.sync(descriptor);
}

int FaultyFileSystem::lock(int descriptor) {
  const int error = error_of(next(Operation::kLock));
  return error != 0 ? error : real_.lock(descriptor);
}

int FaultyFileSystem::make_directory(const std::string& path, mode_t mode) {
  const int error = error_of(next(Operation::kMakeDirectory));
  return error != 0 ? error : real_.make_directory(path, mode);
}

int FaultyFileSystem::remove_directory(const std::string& path) {
  const int error = error_of(next(Operation::kRemoveDirectory));
  return error != 0 ? error : real_.remove_directory(path);
}

int FaultyFileSystem::unlink(const std::string& path) {
  const int error = error_of(next(Operation::kUnlink));
  return error != 0 ? error : real_.unlink(path);
}

}  // namespace anadrome::test

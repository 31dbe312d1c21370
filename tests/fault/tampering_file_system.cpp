// SPDX-License-Identifier: BSD-2-Clause
#include "tampering_file_system.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

namespace anadrome::test {
namespace {

std::string link_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

std::string name_of(int descriptor) {
  return std::filesystem::read_symlink(link_of(descriptor)).filename();
}

// The file again, without O_DIRECT: any byte of it can be changed.
class Hand {
 public:
  explicit Hand(int descriptor)
      : descriptor_(::open(link_of(descriptor).c_str(), O_RDWR | O_CLOEXEC)) {}
  ~Hand() { ::close(descriptor_); }
  Hand(const Hand&) = delete;
  Hand& operator=(const Hand&) = delete;
  int get() const { return descriptor_; }

  std::vector<std::byte> read(off_t offset, std::size_t count) const {
    std::vector<std::byte> bytes(count);
    const ssize_t got = ::pread(descriptor_, bytes.data(), count, offset);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  bool write(off_t offset, const std::vector<std::byte>& bytes) const {
    return ::pwrite(descriptor_, bytes.data(), bytes.size(), offset) ==
           static_cast<ssize_t>(bytes.size());
  }

 private:
  int descriptor_;
};

}  // namespace

const char* to_string(Damage damage) {
  constexpr std::array<const char*, 7> kNames = {
      "none", "flipped bit", "truncated file", "swapped", "stale block", "foreign block", "zeros"};
  return kNames[static_cast<std::size_t>(damage)];
}

void TamperingFileSystem::arm(Damage damage, std::int64_t at, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  damage_ = damage;
  at_ = at;
  number_ = number;
  reads_ = 0;
  hit_ = false;
}

std::int64_t TamperingFileSystem::reads() const {
  const std::lock_guard lock(mutex_);
  return reads_;
}

bool TamperingFileSystem::hit() const {
  const std::lock_guard lock(mutex_);
  return hit_;
}

void TamperingFileSystem::remember_as_stale() {
  const std::lock_guard lock(mutex_);
  stale_ = std::move(written_);
  written_.clear();
}

void TamperingFileSystem::remember_as_foreign() {
  const std::lock_guard lock(mutex_);
  foreign_ = std::move(written_);
  written_.clear();
}

void TamperingFileSystem::start(store::FileTransfer& transfer) {
  {
    const std::lock_guard lock(mutex_);
    if (transfer.write) {
      const auto* bytes = static_cast<const std::byte*>(transfer.bytes);
      written_[{name_of(transfer.descriptor), transfer.offset}].assign(bytes,
                                                                       bytes + transfer.count);
    } else if (++reads_ == at_) {
      tamper(transfer);
    }
  }
  real_.start(transfer);
}

bool TamperingFileSystem::overwrite(int descriptor, const std::vector<std::byte>& bytes,
                                    const Place& place) {
  const Hand hand(descriptor);
  return hand.read(place.second, bytes.size()) != bytes && hand.write(place.second, bytes);
}

bool TamperingFileSystem::exchange(int descriptor, const Place& place, std::size_t count) {
  std::vector<Place> others;
  for (const auto& [other, bytes] : written_) {
    if (other.first == place.first && other.second != place.second && bytes.size() == count) {
      others.push_back(other);
    }
  }
  if (others.empty()) return false;
  const Place& other = others[number_ % others.size()];
  const Hand hand(descriptor);
  const std::vector<std::byte> here = hand.read(place.second, count),
                               there = hand.read(other.second, count);
  return here != there && hand.write(place.second, there) && hand.write(other.second, here);
}

void TamperingFileSystem::tamper(const store::FileTransfer& transfer) {
  const Place place = {name_of(transfer.descriptor), transfer.offset};
  const auto earlier = [&](const Contents& contents) {
    const auto found = contents.find(place);
    return found != contents.end() && found->second.size() == transfer.count &&
           overwrite(transfer.descriptor, found->second, place);
  };
  switch (damage_) {
    case Damage::kNone:
      return;
    case Damage::kFlip: {
      const Hand hand(transfer.descriptor);
      const std::uint64_t bit = number_ % (transfer.count * 8);
      const off_t where = transfer.offset + static_cast<off_t>(bit / 8);
      std::vector<std::byte> byte = hand.read(where, 1);
      if (byte.empty()) return;
      byte[0] ^= static_cast<std::byte>(1U << (bit % 8));
      hit_ = hand.write(where, byte);
      return;
    }
    case Damage::kTruncate: {
      const Hand hand(transfer.descriptor);
      const auto length = transfer.offset + static_cast<off_t>(number_ % transfer.count);
      hit_ = ::ftruncate(hand.get(), length) == 0;
      return;
    }
    case Damage::kSwap:
      hit_ = exchange(transfer.descriptor, place, transfer.count);
      return;
    case Damage::kStale:
      hit_ = earlier(stale_);
      return;
    case Damage::kForeign:
      hit_ = earlier(foreign_);
      return;
    case Damage::kZeros:
      hit_ = overwrite(transfer.descriptor, std::vector<std::byte>(transfer.count), place);
      return;
  }
}

}  // namespace anadrome::test

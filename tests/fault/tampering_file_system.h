// SPDX-License-Identifier: BSD-2-Clause
// A file system on whose disk something changes bytes after they were written: just before they
// are read, so that every change counts.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "forwarding_file_system.h"

namespace anadrome::test {

enum class Damage {
  kNone,
  kFlip,      ///< one bit
  kTruncate,  ///< the file ends within what is read
  kSwap,      ///< the bytes of another block of the file, and its place holds these
  kStale,     ///< what an earlier sweep wrote there
  kForeign,   ///< what another run wrote there
  kZeros      ///< a hole
};
const char* to_string(Damage damage);

class TamperingFileSystem final : public ForwardingFileSystem {
 public:
  /// From now on count afresh, and damage what transfer number `at` (from 1) reads; `number` says
  /// where.
  void arm(Damage damage, std::int64_t at, std::uint64_t number);
  void disarm() { arm(Damage::kNone, 0, 0); }
  std::int64_t reads() const;
  /// Were bytes changed?
  bool hit() const;
  /// The bytes written so far are an earlier sweep's (or run's) from now on.
  void remember_as_stale();
  void remember_as_foreign();

  void start(store::FileTransfer& transfer) override;

 private:
  using Place = std::pair<std::string, off_t>;  ///< a file's name and an offset in it
  using Contents = std::map<Place, std::vector<std::byte>>;

  void tamper(const store::FileTransfer& transfer);
  bool overwrite(int descriptor, const std::vector<std::byte>& bytes, const Place& place);
  bool exchange(int descriptor, const Place& place, std::size_t count);

  mutable std::mutex mutex_;  // guards all of the below
  Damage damage_ = Damage::kNone;
  std::int64_t at_ = 0, reads_ = 0;
  std::uint64_t number_ = 0;
  bool hit_ = false;
  Contents written_, stale_, foreign_;
};

}  // namespace anadrome::test

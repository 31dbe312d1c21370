// SPDX-License-Identifier: BSD-2-Clause
// The notes of a sweep on disk, for a process that goes on after a kill: a file of each rank's, to
// which entries are added. An entry counts when all of it is there.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "store/files/file_system.h"

namespace anadrome::petsc {

using Bytes = std::vector<std::byte>;

/// Puts plain values one after the other.
template <class Value>
void put(Bytes& bytes, const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}
inline void put(Bytes& bytes, std::span<const std::byte> values) {
  bytes.insert(bytes.end(), values.begin(), values.end());
}

/// Takes them back in the same order; throws ERR_CORRUPT beyond the end.
class Reading {
 public:
  explicit Reading(const Bytes& bytes) : left_(bytes) {}
  template <class Value>
  Value get() {
    Value value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> take(std::size_t count);
  std::size_t left() const { return left_.size(); }

 private:
  std::span<const std::byte> left_;
};

struct Entry {
  std::int64_t kind = 0;
  Bytes bytes;
};

class NotesFile {
 public:
  /// An empty one, whatever entries were there. All of these throw Error, also where a file is
  /// there that is not one of these.
  void create(const std::string& path);
  /// The entries of the one that is there, in order; none if there is none. Those after the first
  /// `keep` that the caller wants are cut off by keep_first.
  std::vector<Entry> open(const std::string& path);
  void keep_first(std::size_t count);
  /// Held until flush.
  void add(std::int64_t kind, const Bytes& bytes);
  /// What was added outlives the process; and, when the last sync is long enough ago for the next
  /// one to cost little, the machine.
  void flush();
  void sync();
  void remove();
  /// The one at `path`, if it is one.
  static void remove_at(const std::string& path);

 private:
  static bool is_one(const store::File& file);
  void open_own(const std::string& path);

  store::File file_;
  Bytes held_;
  off_t end_ = 0;
  std::vector<off_t> ends_;  ///< of the entries that `open` found
  double synced_ = 0, sync_takes_ = 0;
  bool unsynced_ = false;
};

}  // namespace anadrome::petsc

// The tape fields, and their way into slots that are laid out for states and back: the tape's bytes
// fill as many of them as they need, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/block_layout.h"

namespace anadrome::store {

class LiveTape {
 public:
  LiveTape(const BlockLayout& layout, std::vector<Field> tape_fields);

  /// A state's place in the pool.
  struct Place {
    std::byte* block;
    std::int64_t index;
  };
  /// The caller's tape fields -> places. Throws ERR_PEER if a pack callback fails; every field is
  /// still packed, since callbacks may be collective.
  void keep(std::span<const Place> places);
  /// The way back.
  void restore(std::span<const Place> places);

  /// Bytes that packed fields need beside the pool.
  static std::int64_t buffer_bytes(std::span<const Field> tape_fields);

 private:
  class Cursor;
  [[noreturn]] void fail(const char* callback, const Field& field, int code) const;

  const BlockLayout& layout_;
  std::vector<Field> fields_;
  std::vector<std::byte> packed_;  ///< one packed field, in one piece
};

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// The tape fields, and their way into slots that are laid out for states and back: the tape's bytes
// fill as many of them as they need, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/memory/block_layout.h"
#include "store/tiers/ram_tier.h"

namespace anadrome::engine {

class LiveTape {
 public:
  LiveTape(const store::BlockLayout& layout, std::vector<store::Field> tape_fields);

  using Place = store::BlockPlace;
  /// The caller's tape fields -> places. Throws ERR_PEER if a pack callback fails; every field is
  /// still packed, since callbacks may be collective.
  void keep(std::span<const Place> places);
  /// The way back.
  void restore(std::span<const Place> places);

  /// Bytes that fields with a mover need beside the pool.
  static std::int64_t buffer_bytes(std::span<const store::Field> tape_fields);

 private:
  class Cursor;

  const store::BlockLayout& layout_;
  std::vector<store::Field> fields_;
  std::vector<std::byte> moved_;  ///< one field that has a mover, in one piece
};

}  // namespace anadrome::engine

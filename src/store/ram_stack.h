// States of different sizes in one piece of memory. A Nested stacks them one behind the other: what
// it gives up first is what it kept last, so there are no gaps. An OverlappedSweep has a place for
// each. A state's first unit is the slot, or the place, of the schedule's action.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/live_state.h"

namespace anadrome::store {

class RamStack {
 public:
  RamStack(LiveState& live, std::byte* memory, std::int64_t unit_bytes)
      : live_(live), memory_(memory), unit_bytes_(unit_bytes) {}

  /// Live state -> the `units` units from `slot` on. Returns what it takes in bytes: if that is
  /// more than these, it is not kept. Throws as LiveState::keep does.
  std::int64_t keep(std::int64_t slot, std::int64_t units);
  void restore(std::int64_t slot) { live_.restore_piece(address(slot)); }
  /// The same for a state that is to be written: `extents` are where its fields lie.
  std::int64_t keep_in_pages(std::int64_t slot, std::int64_t units, std::vector<Extent>& extents);
  void restore_pages(std::int64_t slot, const std::vector<Extent>& extents) {
    live_.restore_pages(address(slot), extents);
  }
  std::byte* address(std::int64_t slot) const { return memory_ + slot * unit_bytes_; }
  /// A state that was kept before comes back to `slot`.
  void note_return(std::int64_t slot, const std::vector<Extent>& extents);

  /// As far as it was filled.
  std::int64_t most_bytes() const { return most_bytes_; }

 private:
  std::int64_t note(std::int64_t slot, std::int64_t units, std::int64_t bytes);

  LiveState& live_;
  std::byte* memory_;
  std::int64_t unit_bytes_;
  std::int64_t most_bytes_ = 0;
};

}  // namespace anadrome::store

// States of different sizes in one piece of memory, one behind the other as a Nested stacks them:
// what it gives up first is what it kept last, so there are no gaps. A state's first unit is the
// slot of the schedule's action.
#pragma once

#include <cstddef>
#include <cstdint>

#include "store/live_state.h"

namespace anadrome::engine {

class RamStack {
 public:
  RamStack(store::LiveState& live, std::byte* memory, std::int64_t unit_bytes)
      : live_(live), memory_(memory), unit_bytes_(unit_bytes) {}

  /// Live state -> the `units` units from `slot` on. Returns what it takes in bytes: if that is
  /// more than these, it is not kept. Throws as LiveState::keep does.
  std::int64_t keep(std::int64_t slot, std::int64_t units);
  void restore(std::int64_t slot) { live_.restore_piece(memory_ + slot * unit_bytes_); }

  /// As far as it was filled.
  std::int64_t most_bytes() const { return most_bytes_; }

 private:
  store::LiveState& live_;
  std::byte* memory_;
  std::int64_t unit_bytes_;
  std::int64_t most_bytes_ = 0;
};

}  // namespace anadrome::engine

#include "engine/ram_stack.h"

#include <algorithm>

namespace anadrome::engine {

std::int64_t RamStack::keep(std::int64_t slot, std::int64_t units) {
  const std::int64_t begin = slot * unit_bytes_, room = units * unit_bytes_;
  const std::int64_t bytes = live_.keep_in_piece(memory_ + begin, room);
  if (bytes <= room) most_bytes_ = std::max(most_bytes_, begin + bytes);
  return bytes;
}

}  // namespace anadrome::engine

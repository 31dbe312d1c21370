#include "store/ram_stack.h"

#include <algorithm>

namespace anadrome::store {

std::int64_t RamStack::keep(std::int64_t slot, std::int64_t units) {
  return note(slot, units, live_.keep_in_piece(address(slot), units * unit_bytes_));
}

std::int64_t RamStack::keep_in_pages(std::int64_t slot, std::int64_t units,
                                     std::vector<Extent>& extents) {
  return note(slot, units, live_.keep_in_pages(address(slot), units * unit_bytes_, extents));
}

void RamStack::note_return(std::int64_t slot, const std::vector<Extent>& extents) {
  for (const auto& [offset, bytes] : extents)
    most_bytes_ = std::max(most_bytes_, slot * unit_bytes_ + offset + bytes);
}

std::int64_t RamStack::note(std::int64_t slot, std::int64_t units, std::int64_t bytes) {
  if (bytes <= units * unit_bytes_) {
    most_bytes_ = std::max(most_bytes_, slot * unit_bytes_ + bytes);
  }
  return bytes;
}

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/keep/live_tape.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "store/memory/field_copy.h"

namespace anadrome::engine {

using store::BlockLayout;
using store::Field;

// Goes through the bytes of the places in order.
class LiveTape::Cursor {
 public:
  Cursor(const BlockLayout& layout, std::span<const Place> places)
      : layout_(layout), places_(places) {}

  /// Calls piece(address, offset, count) for the next `bytes` bytes.
  template <class Piece>
  void over(std::int64_t bytes, const Piece& piece) {
    for (std::int64_t done = 0; done < bytes;) {
      if (place_ == places_.size()) {
        throw Error(ANADROME_ERR_INTERNAL, "a tape needs more slots than it was given");
      }
      const BlockLayout::Part& part = layout_.parts()[part_];
      const std::int64_t count = std::min(part.bytes - used_, bytes - done);
      if (count > 0) {
        const Place& place = places_[place_];
        piece(layout_.address(place.block, place.index, part_) + used_, done, count);
      }
      done += count;
      used_ += count;
      if (used_ < part.bytes) continue;
      used_ = 0;
      if (++part_ == layout_.parts().size()) {
        part_ = 0;
        ++place_;
      }
    }
  }

 private:
  const BlockLayout& layout_;
  std::span<const Place> places_;
  std::size_t place_ = 0, part_ = 0;
  std::int64_t used_ = 0;  ///< bytes of this part
};

LiveTape::LiveTape(const BlockLayout& layout, std::vector<Field> tape_fields)
    : layout_(layout), fields_(std::move(tape_fields)), moved_(size(buffer_bytes(fields_))) {}

std::int64_t LiveTape::buffer_bytes(std::span<const Field> tape_fields) {
  std::int64_t bytes = 0;
  for (const Field& field : tape_fields) {
    if (field.mover != nullptr) bytes = std::max(bytes, field.bytes());
  }
  return bytes;
}

void LiveTape::keep(std::span<const Place> places) {
  Cursor cursor(layout_, places);
  Failure failed;
  for (const Field& field : fields_) {
    const auto* from = static_cast<const std::byte*>(field.values);
    if (field.mover != nullptr) {
      from = moved_.data();
      if (Failure failure = copy_out(field, moved_.data(), field.bytes())) {
        failed = std::move(failure);
      }
    }
    cursor.over(field.bytes(), [&](std::byte* place, std::int64_t offset, std::int64_t count) {
      std::memcpy(place, from + offset, size(count));
    });
  }
  if (failed) throw Error(failed.status, failed.message);
}

void LiveTape::restore(std::span<const Place> places) {
  Cursor cursor(layout_, places);
  Failure failed;
  for (const Field& field : fields_) {
    const bool moved = field.mover != nullptr;
    auto* to = moved ? moved_.data() : static_cast<std::byte*>(field.values);
    cursor.over(field.bytes(),
                [&](const std::byte* place, std::int64_t offset, std::int64_t count) {
                  std::memcpy(to + offset, place, size(count));
                });
    if (!moved) continue;
    if (Failure failure = copy_in(field, moved_.data(), field.bytes())) failed = std::move(failure);
  }
  if (failed) throw Error(failed.status, failed.message);
}

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
#include "store/moving/transport.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/checked.h"
#include "base/clock.h"
#include "base/index.h"

namespace anadrome::store {

BlockChecksum::BlockChecksum(const BlockLayout& layout, const Transfer& transfer)
    : layout_(layout), states_(transfer.identity.states), bytes_(transfer.bytes) {
  stream_.add_value(transfer.identity);
  if (!transfer.extents.empty()) extents_ = &transfer.extents;
}

void BlockChecksum::add_up_to(std::size_t field, std::int64_t end) {
  if (field != field_) added_ = 0;
  field_ = field;
  BlockLayout::Part part = layout_.parts()[field];
  if (extents_ != nullptr) {
    const auto& [offset, bytes] = (*extents_)[field];
    part = {bytes, bytes, offset};
  }
  const std::byte* start = bytes_ + part.offset;
  if (part.bytes == part.stride) {
    end = std::min(end, part.bytes * states_);
    if (end > added_) stream_.add(start + added_, size(end - added_));
    added_ = std::max(added_, end);
    return;
  }
  for (; added_ < states_ && added_ * part.stride + part.bytes <= end; ++added_) {
    stream_.add(start + added_ * part.stride, size(part.bytes));
  }
}

Checksum checksum_of(const BlockLayout& layout, const Transfer& transfer) {
  BlockChecksum checksum(layout, transfer);
  for (std::size_t f = 0; f < layout.parts().size(); ++f) {
    checksum.add_up_to(f, layout.part_bytes(f));
  }
  return checksum.finish();
}

Extent used_extent(const BlockLayout& layout, const Transfer& transfer, std::size_t field) {
  if (!transfer.extents.empty()) return transfer.extents[field];
  const BlockLayout::Part& part = layout.parts()[field];
  return {part.offset, part.stride * transfer.identity.states};
}

// A partly filled block moves only the pages in use.
Extent moved_extent(const BlockLayout& layout, const Transfer& transfer, std::size_t field) {
  Extent extent = used_extent(layout, transfer, field);
  extent.bytes = std::min(round_up(extent.bytes, kPage), layout.part_bytes(field));
  return extent;
}

void keep_to_limit(const TransportOptions& options, double began, std::int64_t moved) {
  if (options.bytes_per_second <= 0) return;
  const double due = real(moved) / real(options.bytes_per_second);
  const double rest = began + due - now_seconds();
  if (rest > 0) std::this_thread::sleep_for(std::chrono::duration<double>(rest));
}

Failure not_what_was_written(const Transfer& transfer, const std::string& why) {
  return {ANADROME_ERR_CORRUPT,
          "the state of step " + std::to_string(transfer.identity.first_step) + " read back from " +
              transfer.segment->path() + " is not what was written: " + why};
}

Failure compare(const Transfer& transfer, const Checksum& found) {
  if (found == transfer.checksum) return {};
  return not_what_was_written(transfer, "its checksum differs");
}

}  // namespace anadrome::store

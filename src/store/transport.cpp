#include "store/transport.h"

#include <algorithm>

namespace anadrome::store {

BlockChecksum::BlockChecksum(const BlockLayout& layout, const BlockIdentity& identity,
                             const std::byte* bytes)
    : layout_(layout), states_(identity.states), bytes_(bytes) {
  stream_.add_value(identity);
}

void BlockChecksum::add_up_to(std::size_t field, std::int64_t end) {
  if (field != field_) added_ = 0;
  field_ = field;
  const BlockLayout::Part& part = layout_.parts()[field];
  const std::byte* start = bytes_ + part.offset;
  if (part.bytes == part.stride) {
    end = std::min(end, part.bytes * states_);
    if (end > added_) stream_.add(start + added_, static_cast<std::size_t>(end - added_));
    added_ = std::max(added_, end);
    return;
  }
  for (; added_ < states_ && added_ * part.stride + part.bytes <= end; ++added_) {
    stream_.add(start + added_ * part.stride, static_cast<std::size_t>(part.bytes));
  }
}

Checksum checksum_of(const BlockLayout& layout, const BlockIdentity& identity,
                     const std::byte* bytes) {
  BlockChecksum checksum(layout, identity, bytes);
  for (std::size_t f = 0; f < layout.parts().size(); ++f) {
    checksum.add_up_to(f, layout.part_bytes(f));
  }
  return checksum.finish();
}

Failure compare(const Transfer& transfer, const Checksum& found) {
  if (found == transfer.checksum) return {};
  return {ANADROME_ERR_CORRUPT,
          "the state of step " + std::to_string(transfer.identity.first_step) + " read back from " +
              transfer.segment->path() + " is not what was written: its checksum differs"};
}

}  // namespace anadrome::store

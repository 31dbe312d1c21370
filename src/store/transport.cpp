#include "store/transport.h"

namespace anadrome::store {

Checksum checksum_of(const BlockLayout& layout, const BlockIdentity& identity,
                     const std::byte* bytes) {
  ChecksumStream stream;
  stream.add_value(identity);
  for (const BlockLayout::Part& part : layout.parts()) {
    if (part.bytes == part.stride) {
      stream.add(bytes + part.offset, static_cast<std::size_t>(part.bytes * identity.states));
      continue;
    }
    for (std::int64_t i = 0; i < identity.states; ++i) {
      stream.add(bytes + part.offset + i * part.stride, static_cast<std::size_t>(part.bytes));
    }
  }
  return stream.finish();
}

Failure verify(const BlockLayout& layout, const Transfer& transfer) {
  if (checksum_of(layout, transfer.identity, transfer.bytes) == transfer.checksum) return {};
  return {ANADROME_ERR_CORRUPT,
          "the state of step " + std::to_string(transfer.identity.first_step) + " read back from " +
              transfer.segment->path() + " is not what was written: its checksum differs"};
}

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "store/files/segment.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/platform/platform.h"

namespace anadrome::store {

Segment::Segment(FilePlace place, const Range& range, const SegmentOffsets& offsets,
                 std::span<const std::int64_t> strides_before, const BlockLayout& layout,
                 TransportName transport)
    : place_(std::move(place)), range_(range), offsets_(offsets) {
  for (std::size_t f = 0; f < offsets.fields.size(); ++f) {
    const std::int64_t slots_before = strides_before[f] * range.blocks * layout.states();
    field_starts_.push_back(offsets.fields[f] + slots_before);
    part_bytes_.push_back(layout.part_bytes(f));
  }
  if (transport == TransportName::kAuto || transport == TransportName::kDirect) {
    try {
      if (platform::kDirect == 0) throw_errno(-EOPNOTSUPP, "open", place_.path());
      file_ = place_.open(O_RDWR | platform::kDirect);
      direct_ = true;
    } catch (const Error& error) {
      if (transport == TransportName::kDirect) {
        throw Error(ANADROME_ERR_UNSUPPORTED,
                    std::string(error.what()) + " with O_DIRECT; set transport=auto or buffered");
      }
    }
  }
  if (!direct_) file_ = place_.open(O_RDWR);
}

}  // namespace anadrome::store

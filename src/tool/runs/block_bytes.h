// SPDX-License-Identifier: BSD-2-Clause
// Checksums of what lies in a file: of bytes, and of the block of one rank wherever its parts lie.
#pragma once

#include <cstdint>
#include <vector>

#include "base/checksum.h"
#include "store/file_system.h"
#include "store/transport.h"

namespace anadrome::tool {

/// One state field's part of the block: where it begins, and how its states lie.
struct BlockPart {
  std::int64_t offset = 0, bytes = 0, stride = 0;
  /// Are these the bytes of all of them, encoded?
  bool encoded = false;
};

/// Takes little memory, however many they are. Throws ERR_CORRUPT where the file ends before,
/// ERR_IO.
void add_bytes_on_disk(const store::File& file, std::int64_t offset, std::int64_t bytes,
                       ChecksumStream& stream);

/// The checksum that the block has on disk, as docs/format.md defines it. As above.
Checksum sum_on_disk(const store::File& file, const store::BlockIdentity& identity,
                     const std::vector<BlockPart>& parts);

}  // namespace anadrome::tool

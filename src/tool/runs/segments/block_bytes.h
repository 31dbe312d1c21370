// SPDX-License-Identifier: BSD-2-Clause
// Checksums of what lies in a file: of bytes, and of the block of one rank wherever its parts lie.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/checksum.h"
#include "store/files/file_system.h"
#include "store/moving/transport.h"

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

/// Reads bytes of part number `part` from `offset` on.
using ReadPart =
    std::function<void(std::size_t part, std::int64_t offset, char* to, std::size_t bytes)>;
/// The checksum that the block has on disk, as docs/format.md defines it. Throws what `read` does.
Checksum sum_on_disk(const ReadPart& read, const store::BlockIdentity& identity,
                     const std::vector<BlockPart>& parts);

}  // namespace anadrome::tool

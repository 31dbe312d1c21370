// The bytes of one block of one rank, wherever they lie in a file, and whether they are those that
// were written.
#pragma once

#include <cstdint>
#include <vector>

#include "base/checksum.h"
#include "store/file_system.h"
#include "store/transport.h"

namespace anadrome::tool {

/// Of one state field: where its part of the block begins, and how its states lie.
struct BlockPart {
  std::int64_t offset = 0, bytes = 0, stride = 0;
};

/// The checksum that the block has on disk, as docs/format.md defines it. Takes little memory,
/// however large the states are. Throws ERR_CORRUPT where the file ends before, ERR_IO.
Checksum sum_on_disk(const store::File& file, const store::BlockIdentity& identity,
                     const std::vector<BlockPart>& parts);

}  // namespace anadrome::tool

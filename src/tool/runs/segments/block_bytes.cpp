// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/segments/block_bytes.h"

#include <algorithm>

#include "base/checked.h"
#include "base/index.h"

namespace anadrome::tool {
namespace {

constexpr std::int64_t kPiece = std::int64_t{4} << 20;

template <class Read>
void add_bytes(const Read& read, std::int64_t offset, std::int64_t bytes, std::vector<char>& buffer,
               ChecksumStream& stream) {
  for (std::int64_t done = 0; done < bytes;) {
    const auto count = size(std::min(kPiece, bytes - done));
    buffer.resize(std::max(buffer.size(), count));
    read(checked_add(offset, done), buffer.data(), count);
    stream.add(buffer.data(), count);
    done += static_cast<std::int64_t>(count);
  }
}

}  // namespace

void add_bytes_on_disk(const store::File& file, std::int64_t offset, std::int64_t bytes,
                       ChecksumStream& stream) {
  std::vector<char> buffer;
  const auto read = [&](std::int64_t from, char* to, std::size_t count) {
    file.read_all(to, count, from);
  };
  add_bytes(read, offset, bytes, buffer, stream);
}

Checksum sum_on_disk(const ReadPart& read_part, const store::BlockIdentity& identity,
                     const std::vector<BlockPart>& parts) {
  ChecksumStream stream;
  stream.add_value(identity);
  std::vector<char> buffer;
  for (std::size_t number = 0; number < parts.size(); ++number) {
    const BlockPart& part = parts[number];
    const auto read = [&](std::int64_t offset, char* to, std::size_t bytes) {
      read_part(number, offset, to, bytes);
    };
    if (part.bytes == 0) continue;
    if (part.encoded) {
      add_bytes(read, part.offset, part.bytes, buffer, stream);
      continue;
    }
    if (part.bytes == part.stride) {
      add_bytes(read, part.offset, checked_multiply(part.bytes, identity.states), buffer, stream);
      continue;
    }
    // Small states in large reads: a page of padding between them is read too.
    const std::int64_t at_once = std::max<std::int64_t>(1, kPiece / part.stride);
    for (std::int64_t first = 0; first < identity.states; first += at_once) {
      const std::int64_t states = std::min(at_once, identity.states - first);
      const std::int64_t offset = checked_add(part.offset, checked_multiply(first, part.stride));
      if (states == 1) {
        add_bytes(read, offset, part.bytes, buffer, stream);
        continue;
      }
      const auto length = size((states - 1) * part.stride + part.bytes);
      buffer.resize(std::max(buffer.size(), length));
      read(offset, buffer.data(), length);
      for (std::int64_t s = 0; s < states; ++s) {
        stream.add(buffer.data() + s * part.stride, size(part.bytes));
      }
    }
  }
  return stream.finish();
}

}  // namespace anadrome::tool

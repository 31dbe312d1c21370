// SPDX-License-Identifier: BSD-2-Clause
// The way of a part of a block (the states of one field) through a codec to its place on disk, and
// back. Its pieces follow each other there. A piece that the codec does not make smaller lies there
// as it is, so that they never take more than the part does. How long each is, is nowhere on disk
// but in a journal: who writes a block notes it.
//
// One piece is encoded while those before it are written, and decoded while those after it are
// read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "store/block_layout.h"
#include "store/codec.h"
#include "store/file_system.h"
#include "store/pieces.h"

namespace anadrome::store {

/// How the fields of a block are encoded.
struct Encoding {
  CodecName codec = CodecName::kLz4;
  std::vector<std::int64_t> number_bytes;  ///< by field: of one of its numbers
};
Encoding encoding_of(CodecName codec, std::span<const Field> fields);

/// Used by the I/O thread.
class EncodedPart {
 public:
  EncodedPart(const Encoding& encoding, const BlockLayout& layout);

  /// Bytes of memory that it takes for blocks of this layout.
  static std::int64_t memory_bytes(CodecName codec, const BlockLayout& layout);

  /// Who wants to know of the encoded bytes.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void see(std::span<const std::byte> bytes) = 0;  ///< in their order
    virtual void moved(std::int64_t bytes) = 0;              ///< so many more
  };
  /// Where the part lies on disk.
  struct Place {
    const File& file;
    std::int64_t offset, bytes;  ///< begins and ends on a page, unless the file does without
  };
  /// Write `from` to `place`. The length of each piece on disk, 0 for one that is there as it is,
  /// is added to `lengths`. Whole pages are written, as far as the place goes.
  void write(const Place& place, std::span<const std::byte> from, std::size_t field,
             std::vector<std::int64_t>& lengths, Observer& observer);
  /// All of `to` <- the pieces at `place`, of these lengths. Throws ERR_CORRUPT for lengths that
  /// cannot be, and as Codec::decode.
  void read(const Place& place, std::span<std::byte> to, std::size_t field,
            std::span<const std::int64_t> lengths, Observer& observer);

 private:
  static constexpr std::size_t kBuffers = 2;
  class Calls;

  const Encoding encoding_;
  const std::unique_ptr<Codec> codec_;
  const std::size_t piece_bytes_, buffer_bytes_;
  std::vector<std::byte> memory_;
  std::array<std::byte*, kBuffers> buffers_;  ///< for calls, each on a page
  std::span<std::byte> shuffled_;             ///< a piece
};

}  // namespace anadrome::store

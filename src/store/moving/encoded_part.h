// SPDX-License-Identifier: BSD-2-Clause
// The way of a part of a block (the states of one field) through a codec to its place on disk, and
// back. Its pieces follow each other there. A piece that does not become smaller lies there as it
// is, so that they never take more than the part does.
//
// One piece is encoded while those before it are written, and decoded while those after it are
// read.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "store/files/file_system.h"
#include "store/memory/block_layout.h"
#include "store/moving/piece_codec.h"

namespace anadrome::store {

/// How the fields of a block are encoded.
struct Encoding {
  /// A field's numbers. `tolerance` is that of a codec that changes them: absolute, or relative to
  /// the largest magnitude in the field's part of the state on this rank, outliers apart: those are
  /// not changed.
  struct Field {
    std::int64_t number_bytes = 1;  ///< of one
    std::int64_t real_bytes = 0;    ///< of a real number in it; 0: it must not be changed
    double tolerance = 0;
    bool relative = true;
    std::vector<std::int64_t> shape =
        {};  ///< the first dimension varies slowest; empty: one dimension
  };
  Codecs codecs;
  std::vector<Field> fields;
};
/// `tolerance`: relative, of fields that have no own one. Fields that are packed, of integers or of
/// bytes are not changed.
Encoding encoding_of(Codecs codecs, double tolerance, std::span<const Field> fields);

/// Used by the I/O thread.
class EncodedPart {
 public:
  EncodedPart(const Encoding& encoding, const BlockLayout& layout);

  /// Bytes of memory that it takes for blocks of this layout.
  static std::int64_t memory_bytes(const Encoding& encoding, const BlockLayout& layout);

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
  /// Write `from` to `place`. The number of its pieces and these are added to `pieces`. Whole pages
  /// are written, as far as the place goes.
  void write(CodecName codec, const Place& place, std::span<const std::byte> from,
             std::size_t field, std::vector<std::int64_t>& pieces, Observer& observer);
  /// All of `to` <- these pieces at `place`. Throws ERR_CORRUPT for pieces that cannot be, and as
  /// PieceCodec::decode.
  void read(const Place& place, std::span<std::byte> to, std::size_t field,
            std::span<const std::int64_t> pieces, Observer& observer);
  /// The part in memory becomes what a write with tolerances that are so many times larger, and a
  /// read, would make of it.
  void change(CodecName codec, std::span<std::byte> part, std::size_t field, double times);

 private:
  static constexpr std::size_t kBuffers = 2;
  class Calls;
  class Tolerances;
  /// A field's pieces, and how its states lie in a part.
  struct Cut {
    std::int64_t piece_bytes = 0;
    std::int64_t row = 0, plane = 0;  ///< in real numbers; 0: the shape has none
    std::int64_t state_bytes = 0, stride = 0;
    bool padded = false;  ///< states do not follow each other without gaps
  };

  static Cut cut_of(const Encoding::Field& field, const BlockLayout::Part& part,
                    std::int64_t states, bool shaped);
  static std::vector<Cut> cuts_of(const Encoding& encoding, const BlockLayout& layout);
  static CodecName codec_of(CodecName codec, const Cut& cut);
  static std::int64_t largest_piece(const std::vector<Cut>& cuts);
  Numbers numbers_of(std::size_t field, std::size_t bytes) const;

  const Encoding encoding_;
  const std::vector<Cut> cuts_;
  const std::size_t buffer_bytes_;
  PieceCodec codec_;
  std::vector<std::byte> memory_;
  std::array<std::byte*, kBuffers> buffers_;  ///< for calls, each on a page
};

}  // namespace anadrome::store

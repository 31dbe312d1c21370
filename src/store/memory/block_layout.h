// SPDX-License-Identifier: BSD-2-Clause
// Where the bytes of a state lie, in memory and on disk alike.
//
// The unit of transfer is a block of `states` states: one if they are large, so many that a write
// has about 4 MiB if they are small. Within a block the states of one field lie side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <anadrome/field.h>

namespace anadrome::store {

inline constexpr std::int64_t kPage = 4096;
/// A field of changing size begins with its length.
inline constexpr std::int64_t kLengthBytes = 8;

class Mover;

/// One registered field on this rank.
struct Field {
  std::string name;
  anadrome_role role = ANADROME_ROLE_STATE;
  anadrome_type type = ANADROME_BYTE;
  std::int64_t count = 0;  ///< elements on this rank
  bool exchanged = false;  ///< the library owns the memory: see LiveState
  void* values = nullptr;  ///< the caller's array; NULL if packed or exchanged
  /// NULL: memcpy. One of a device: `values` is an address there. If it changes the field's size,
  /// `count` is the largest, with its length.
  std::shared_ptr<const Mover> mover;
  std::vector<std::int64_t> shape = {};  ///< for zfp; empty: one dimension
  double tolerance = -1;                 ///< absolute, of a lossy codec; negative: none
  std::int64_t bytes() const;
};

/// Where a field's bytes lie in a state that takes only what its fields take now.
struct Extent {
  std::int64_t offset = 0, bytes = 0;
};

/// Bytes of all fields on this rank.
std::int64_t total_bytes(std::span<const Field> fields);

/// Is there a field whose memory the library owns?
bool any_exchanged(std::span<const Field> fields);
/// Does the caller pack it?
bool is_packed(const Field& field);
bool any_packed(std::span<const Field> fields);

/// Bytes of one element; 0 for a number that is no anadrome_type.
std::int64_t element_bytes(anadrome_type type);
/// Bytes of a real number in it; 0: it is an integer or a byte.
std::int64_t real_bytes(anadrome_type type);

/// The shape of a block, on which all ranks agree before they lay one out.
struct BlockShape {
  std::int64_t states = 1;  ///< in one block
  bool paged = false;       ///< each state of each field begins on a page (otherwise on 8 bytes)
  bool operator==(const BlockShape&) const = default;
};

/// Below this a copy costs less than the larger write saves.
inline constexpr std::int64_t kHandedOverBytes = std::int64_t{1} << 20;

/// The facts by which a shape is chosen.
struct BlockDemand {
  std::int64_t state_bytes = 0;  ///< the largest of any rank
  std::int64_t fields = 1;
  bool disk = false;       ///< the parts of a block are whole pages
  bool exchanged = false;  ///< states of 1 MiB or more get a block of their own
};

/// At least 16 blocks fit into `memory` unless one state fills one; at least 4 of states below a
/// page.
BlockShape choose_block_shape(const BlockDemand& demand, std::int64_t memory);

/// The use of the disk: none, or blocks of as many states as make a large write.
enum class DiskUse { kNone, kBlocks };

/// Bytes of `memory` that one block, which may hold so many slots, takes beside its states.
std::int64_t bookkeeping_bytes(std::int64_t slots, DiskUse disk);

/// How many of so many blocks are for reading ahead until times are measured.
std::int64_t blocks_read_ahead(std::int64_t blocks);

class BlockLayout {
 public:
  struct Part {
    std::int64_t bytes;   ///< of one state of this field
    std::int64_t stride;  ///< from one state to the next
    std::int64_t offset;  ///< of the field's first state in the block
  };
  BlockLayout() = default;
  BlockLayout(const BlockShape& shape, std::span<const Field> state_fields);

  std::int64_t states() const { return states_; }
  /// Where state `number` of many lies that fill one block after the other. A division takes longer
  /// than a small state's copy.
  std::int64_t block_of(std::int64_t number) const {
    return shift_ >= 0 ? number >> shift_ : number / states_;
  }
  std::int64_t index_in_block(std::int64_t number) const {
    return shift_ >= 0 ? number & (states_ - 1) : number % states_;
  }
  std::int64_t first_of_block(std::int64_t number) const { return number - index_in_block(number); }
  bool fills_block(std::int64_t number) const { return index_in_block(number + 1) == 0; }
  std::int64_t block_bytes() const { return block_bytes_; }
  std::int64_t state_bytes() const { return state_bytes_; }  ///< without padding
  const std::vector<Part>& parts() const { return parts_; }
  std::int64_t part_bytes(std::size_t field) const { return parts_[field].stride * states_; }
  std::byte* address(std::byte* block, std::int64_t index, std::size_t field) const {
    return block + parts_[field].offset + index * parts_[field].stride;
  }

 private:
  std::int64_t states_ = 1;
  int shift_ = 0;  ///< states_ is 2^shift_; -1: no power of two
  std::int64_t block_bytes_ = 0;
  std::int64_t state_bytes_ = 0;
  std::vector<Part> parts_;
};

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "store/memory/block_layout.h"

#include <algorithm>
#include <bit>

#include "base/checked.h"
#include "store/memory/mover.h"

namespace anadrome::store {
namespace {

constexpr std::int64_t kWriteBytes = std::int64_t{4} << 20;
constexpr std::int64_t kWord = 8;

}  // namespace

std::int64_t element_bytes(anadrome_type type) {
  switch (type) {
    case ANADROME_FLOAT32:
      return 4;
    case ANADROME_FLOAT64:
      return 8;
    case ANADROME_COMPLEX64:
      return 8;
    case ANADROME_COMPLEX128:
      return 16;
    case ANADROME_INT32:
      return 4;
    case ANADROME_INT64:
      return 8;
    case ANADROME_BYTE:
      return 1;
  }
  return 0;
}

std::int64_t real_bytes(anadrome_type type) {
  switch (type) {
    case ANADROME_FLOAT32:
    case ANADROME_COMPLEX64:
      return 4;
    case ANADROME_FLOAT64:
    case ANADROME_COMPLEX128:
      return 8;
    default:
      return 0;
  }
}

std::int64_t Field::bytes() const { return checked_multiply(count, element_bytes(type)); }

std::int64_t total_bytes(std::span<const Field> fields) {
  std::int64_t bytes = 0;
  for (const Field& field : fields) bytes = checked_add(bytes, field.bytes());
  return bytes;
}

bool any_exchanged(std::span<const Field> fields) {
  return std::any_of(fields.begin(), fields.end(), [](const Field& f) { return f.exchanged; });
}

bool is_packed(const Field& field) {
  return field.mover != nullptr && field.mover->on_device() == nullptr;
}

bool any_packed(std::span<const Field> fields) {
  return std::any_of(fields.begin(), fields.end(), is_packed);
}

BlockShape choose_block_shape(const BlockDemand& demand, std::int64_t memory) {
  constexpr std::int64_t kFewestBlocks = 16;
  const auto& [state_bytes, fields, disk, exchanged] = demand;
  if (exchanged && state_bytes >= kHandedOverBytes) return {1, true};
  const std::int64_t packed = std::max(kWord, checked_add(state_bytes, kWord * fields));
  if (!disk) {  // several states to a block only to keep the bookkeeping small
    constexpr std::int64_t kBlockBytes = std::int64_t{64} << 10;
    return {std::clamp<std::int64_t>(memory / (kFewestBlocks * packed), 1,
                                     ceil_divide(kBlockBytes, packed)),
            false};
  }
  // Unpadded states fill whole pages when their number is a multiple of 4096 / 8.
  constexpr std::int64_t kPageful = kPage / kWord;
  constexpr std::int64_t kSmall = std::int64_t{64} << 10;
  if (packed <= kSmall) {
    const std::int64_t affordable = memory / (kFewestBlocks * packed) / kPageful * kPageful;
    const std::int64_t wanted =
        round_up(ceil_divide(kWriteBytes, std::max(kWord, state_bytes)), kPageful);
    if (affordable >= kPageful) return {std::min(affordable, wanted), false};
    // Where a page for each state would be more than twice its size, few blocks are better.
    constexpr std::int64_t kFew = 4;
    if (packed <= kPage / 2 && memory / (kFew * packed) >= kPageful) return {kPageful, false};
  }
  const std::int64_t paged = checked_add(state_bytes, kPage * fields);
  // The block of an anchor has no slots: of many blocks it is the smaller part.
  constexpr std::int64_t kManyBlocks = 256;
  const bool medium = kSmall <= state_bytes && state_bytes < kHandedOverBytes;
  const std::int64_t blocks = medium ? kManyBlocks : kFewestBlocks;
  return {std::clamp<std::int64_t>(memory / (blocks * paged), 1, ceil_divide(kWriteBytes, paged)),
          true};
}

// The pool's and the slots' tables, and per state the schedule's stack. A block that goes to disk
// has an entry with its transfer, and a checksum.
std::int64_t bookkeeping_bytes(std::int64_t slots, DiskUse disk) {
  constexpr std::int64_t kOfPool = 16, kOfSlots = 16, kPerState = 48, kPerTransfer = 512;
  return kOfPool + kOfSlots + kPerState * slots + (disk != DiskUse::kNone ? kPerTransfer : 0);
}

std::int64_t blocks_read_ahead(std::int64_t blocks) {
  constexpr std::int64_t kManyBlocks = 12;
  return blocks == 1 ? 0 : blocks < kManyBlocks ? 1 : 2;
}

BlockLayout::BlockLayout(const BlockShape& shape, std::span<const Field> state_fields)
    : states_(shape.states),
      shift_(std::has_single_bit(static_cast<std::uint64_t>(shape.states))
                 ? std::countr_zero(static_cast<std::uint64_t>(shape.states))
                 : -1) {
  for (const Field& field : state_fields) {
    const std::int64_t bytes = field.bytes();
    const std::int64_t stride = round_up(bytes, shape.paged ? kPage : kWord);
    parts_.push_back({bytes, stride, block_bytes_});
    block_bytes_ = checked_add(block_bytes_, checked_multiply(stride, states_));
    state_bytes_ = checked_add(state_bytes_, bytes);
  }
}

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// All memory for states: one mapping within the budget, cut into equal blocks that are used over
// and over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/index.h"

namespace anadrome::store {

class Pool {
 public:
  Pool() = default;
  /// Maps `blocks` blocks; memory is touched only when a block is first used. Throws ERR_MEMORY.
  Pool(std::int64_t block_bytes, std::int64_t blocks);
  /// Blocks of memory that somebody else owns, which nobody here looks into.
  Pool(std::byte* memory, std::int64_t block_bytes, std::int64_t blocks);
  Pool(Pool&& other) noexcept;
  Pool& operator=(Pool&& other) noexcept;
  ~Pool();

  /// A free block, the one that became free last, with one holder; -1 if there is none.
  std::int64_t take();
  /// One holder more of a block in use.
  void hold(std::int64_t block) { ++holders_[at(block)]; }
  std::int64_t holders(std::int64_t block) const { return holders_[at(block)]; }
  /// One holder less; a block without holders is free.
  void give_back(std::int64_t block);
  /// The system may have the memory of a block in use, whose bytes are lost.
  void discard(std::int64_t block);
  /// Touch the first `blocks` blocks now, rather than when they are first used.
  void populate(std::int64_t blocks);
  /// All blocks are free again.
  void reset();

  std::byte* address(std::int64_t block) const { return memory_ + block * stride_; }
  std::int64_t blocks() const { return blocks_; }
  std::int64_t block_bytes() const { return stride_; }
  std::int64_t free_blocks() const { return std::ssize(free_) + blocks_ - fresh_; }
  /// Blocks that were in use or populated since the pool was made.
  std::int64_t touched_blocks() const { return touched_; }

 private:
  void map(std::int64_t bytes);
  void unmap();

  std::byte* memory_ = nullptr;
  std::int64_t stride_ = 0;
  std::int64_t blocks_ = 0;
  std::int64_t mapped_bytes_ = 0;
  std::int64_t fresh_ = 0;  // blocks from here on were not handed out since reset
  std::int64_t touched_ = 0;
  std::vector<std::int64_t> free_;
  std::vector<std::int32_t> holders_;
};

}  // namespace anadrome::store

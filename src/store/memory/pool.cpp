// SPDX-License-Identifier: BSD-2-Clause
#include "store/memory/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/index.h"
#include "base/platform/platform.h"
#include "store/memory/block_layout.h"

namespace anadrome::store {

Pool::Pool(std::int64_t block_bytes, std::int64_t blocks) : stride_(block_bytes), blocks_(blocks) {
  const std::int64_t bytes = checked_multiply(block_bytes, blocks);
  if (bytes > 0) map(bytes);
  // Tables last: no machine has the memory for those of a pool that cannot be mapped.
  try {
    free_.reserve(size(blocks));
    holders_.resize(size(blocks));
  } catch (...) {
    unmap();
    throw;
  }
}

Pool::Pool(std::byte* memory, std::int64_t block_bytes, std::int64_t blocks)
    : memory_(memory), stride_(block_bytes), blocks_(blocks) {
  free_.reserve(size(blocks));
  holders_.resize(size(blocks));
}

void Pool::map(std::int64_t bytes) {
  // Large pools begin on a huge page: fewer faults at first touch, and aligned for O_DIRECT.
  constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
  const bool large = bytes >= kHugePage;
  mapped_bytes_ = round_up(bytes, large ? kHugePage : kPage);
  const std::int64_t slack = large ? kHugePage : 0;
  void* mapping = ::mmap(nullptr, size(checked_add(mapped_bytes_, slack)), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | platform::kNoReserve, -1, 0);
  if (mapping == MAP_FAILED) {
    throw Error(ANADROME_ERR_MEMORY, "cannot map " + format_bytes(bytes) + " for checkpoints: " +
                                         errno_text(errno) + "; lower the option memory");
  }
  memory_ = static_cast<std::byte*>(mapping);
  if (large) {
    const auto beyond = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory_) %
                                                  static_cast<std::uintptr_t>(kHugePage));
    const std::int64_t skip = beyond == 0 ? 0 : kHugePage - beyond;
    if (skip > 0) ::munmap(memory_, size(skip));
    memory_ += skip;
    if (skip < slack) ::munmap(memory_ + mapped_bytes_, size(slack - skip));
    platform::use_huge_pages(memory_, size(mapped_bytes_));
  }
}

Pool::Pool(Pool&& other) noexcept { *this = std::move(other); }

Pool& Pool::operator=(Pool&& other) noexcept {
  if (this != &other) {
    unmap();
    memory_ = std::exchange(other.memory_, nullptr);
    stride_ = other.stride_;
    blocks_ = std::exchange(other.blocks_, 0);
    mapped_bytes_ = std::exchange(other.mapped_bytes_, 0);
    fresh_ = std::exchange(other.fresh_, 0);
    touched_ = std::exchange(other.touched_, 0);
    free_ = std::move(other.free_);
    holders_ = std::move(other.holders_);
  }
  return *this;
}

Pool::~Pool() { unmap(); }

void Pool::unmap() {
  if (memory_ != nullptr && mapped_bytes_ > 0) ::munmap(memory_, size(mapped_bytes_));
  memory_ = nullptr;
}

std::int64_t Pool::take() {
  std::int64_t block = -1;
  if (!free_.empty()) {
    block = free_.back();
    free_.pop_back();
  } else if (fresh_ < blocks_) {
    block = fresh_++;
    touched_ = std::max(touched_, fresh_);
  } else {
    return -1;
  }
  holders_[at(block)] = 1;
  return block;
}

void Pool::give_back(std::int64_t block) {
  if (--holders_[at(block)] == 0) free_.push_back(block);
}

void Pool::discard(std::int64_t block) {
  platform::give_back(address(block), size(stride_ / kPage * kPage));
}

void Pool::populate(std::int64_t blocks) {
  const std::int64_t from = touched_ * stride_ / kPage * kPage;
  const std::int64_t to =
      std::min(round_up(std::min(blocks, blocks_) * stride_, kPage), mapped_bytes_);
  if (to <= from) return;
  if (platform::populate(memory_ + from, size(to - from))) touched_ = std::min(blocks, blocks_);
}

void Pool::reset() {
  free_.clear();
  fresh_ = 0;
}

}  // namespace anadrome::store

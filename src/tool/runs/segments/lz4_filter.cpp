// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/segments/hdf5_read.h"

#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/error.h"
#include "store/moving/codec.h"

namespace anadrome::tool {
namespace {

constexpr int kLz4Filter = 32004;  // registered with The HDF Group

// The frame is big-endian: bytes in all (u64), bytes of a block (u32), then each block's size (u32)
// and the block, which is not compressed if it has its full size.
class Frame {
 public:
  explicit Frame(std::span<const std::byte> bytes) : left_(bytes) {}
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t number = 0;
    for (const std::byte byte : take(bytes)) number = number << 8 | std::to_integer<unsigned>(byte);
    return number;
  }
  std::span<const std::byte> take(std::size_t bytes) {
    if (bytes > left_.size()) throw Error(ANADROME_ERR_CORRUPT, "a chunk ends too early");
    const auto taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }

 private:
  std::span<const std::byte> left_;
};

void expand(Frame& frame, std::size_t block_bytes, std::span<std::byte> to) {
  while (!to.empty()) {
    const auto block = to.first(std::min(to.size(), block_bytes));
    const auto from = frame.take(frame.number(4));
    if (from.size() == block.size()) {
      std::memcpy(block.data(), from.data(), from.size());
    } else {
      store::expand_lz4(from, block);
    }
    to = to.subspan(block.size());
  }
}

// What HDF5 calls: 0 says that it failed.
std::size_t filter(unsigned flags, std::size_t, const unsigned*, std::size_t bytes,
                   std::size_t* buffer_bytes, void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) == 0) return 0;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  void* expanded = nullptr;
  try {
    Frame frame({static_cast<const std::byte*>(*buffer), bytes});
    const std::uint64_t in_all = frame.number(8), block = frame.number(4);
    if (in_all == 0 || in_all > kMost || block == 0) return 0;
    expanded = H5allocate_memory(in_all, false);
    if (expanded == nullptr) return 0;
    expand(frame, block, {static_cast<std::byte*>(expanded), in_all});
    H5free_memory(*buffer);
    *buffer = expanded;
    *buffer_bytes = in_all;
    return in_all;
  } catch (...) {
    H5free_memory(expanded);
    return 0;
  }
}

}  // namespace

void register_lz4_filter() {
  const H5Z_class2_t lz4 = {H5Z_CLASS_T_VERS, kLz4Filter, 0, 1, "lz4", nullptr, nullptr, filter};
  H5Zregister(&lz4);
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// The tier in memory: the schedule's slots. They are put into blocks of the pool as they come into
// use, several to a block where states are small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/index.h"
#include "store/memory/block_layout.h"
#include "store/tiers/block_keeper.h"
#include "store/tiers/tier.h"

namespace anadrome::store {

/// A state's place in a block.
struct BlockPlace {
  std::byte* block = nullptr;
  std::int64_t index = 0;
};

class RamTier final : public Tier {
 public:
  /// `x_0_bytes`: of memory beside the pool in which x_0 is kept as it is, where `live` changes
  /// what it puts into blocks; 0: x_0 has a slot.
  RamTier(const BlockLayout& layout, BlockKeeper& blocks, Live& live, std::int64_t x_0_bytes = 0)
      : layout_(layout), blocks_(blocks), live_(live), x_0_(size(x_0_bytes)) {}

  void keep(const KeptState& state) override;
  Failure load(std::int64_t) override { return {}; }
  bool lose(std::int64_t) override { return false; }
  void restore(const KeptState& state) override;
  void drop(std::int64_t slot) override;
  Cost cost() const override { return {}; }
  Agreed agreed_before_use() const override { return Agreed::kNothing; }

  /// A tape takes `slots` slots from `first` on, and is put there in pieces as large as a state's.
  /// The places hold until the next call.
  std::span<const BlockPlace> hold(std::int64_t first, std::int64_t slots);
  std::span<const BlockPlace> held(std::int64_t first, std::int64_t slots);
  void let_go(std::int64_t first, std::int64_t slots);
  /// Slots for `bytes` bytes; -1 on a rank that has none to put them into, since its state is
  /// empty.
  static std::int64_t slots_for(std::int64_t bytes, std::int64_t state_bytes);

 private:
  struct Block {
    std::int64_t pool_block = -1;
    std::int64_t states = 0;
  };
  Block& block_of(std::int64_t slot);
  const Block& filled_block_of(std::int64_t slot) const {
    const auto index = size(layout_.block_of(slot));
    if (index >= table_.size() || table_[index].pool_block < 0) not_kept();
    return table_[index];
  }
  [[noreturn]] static void not_kept();

  const BlockLayout& layout_;
  BlockKeeper& blocks_;
  Live& live_;
  std::vector<Block> table_;
  std::vector<BlockPlace> held_;
  std::vector<std::byte> x_0_;
  std::int64_t slot_of_x_0_ = -1;  ///< if it is in x_0_
};

}  // namespace anadrome::store

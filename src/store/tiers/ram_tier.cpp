// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/ram_tier.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"

namespace anadrome::store {

RamTier::Block& RamTier::block_of(std::int64_t slot) {
  const auto index = size(layout_.block_of(slot));
  if (index >= table_.size()) table_.resize(index + 1);
  return table_[index];
}

void RamTier::not_kept() { throw Error(ANADROME_ERR_INTERNAL, "a checkpoint could not be kept"); }

void RamTier::keep(const KeptState& state) {
  if (state.step == 0 && !x_0_.empty()) {
    slot_of_x_0_ = state.number;
    return live_.keep_at(x_0_.data(), std::ssize(x_0_));
  }
  Block& block = block_of(state.number);
  if (block.pool_block < 0) {
    block.pool_block = live_.share_block();
    if (block.pool_block < 0) block.pool_block = blocks_.take();
  }
  ++block.states;
  live_.keep(block.pool_block, layout_.index_in_block(state.number));
}

void RamTier::restore(const KeptState& state) {
  if (state.number == slot_of_x_0_) return live_.restore_from(x_0_.data());
  live_.restore(filled_block_of(state.number).pool_block, layout_.index_in_block(state.number));
}

void RamTier::drop(std::int64_t slot) {
  if (slot == slot_of_x_0_) {
    slot_of_x_0_ = -1;
    return;
  }
  Block& block = table_.at(size(layout_.block_of(slot)));
  if (block.pool_block < 0 || --block.states > 0) return;
  blocks_.pool().give_back(block.pool_block);
  block.pool_block = -1;
}

std::int64_t RamTier::slots_for(std::int64_t bytes, std::int64_t state_bytes) {
  if (bytes == 0) return 1;
  return state_bytes == 0 ? -1 : ceil_divide(bytes, state_bytes);
}

std::span<const BlockPlace> RamTier::hold(std::int64_t first, std::int64_t slots) {
  for (std::int64_t slot = first; slot < first + slots; ++slot) {
    Block& block = block_of(slot);
    if (block.pool_block < 0) block.pool_block = blocks_.take();
    ++block.states;
  }
  return held(first, slots);
}

std::span<const BlockPlace> RamTier::held(std::int64_t first, std::int64_t slots) {
  held_.clear();
  for (std::int64_t slot = first; slot < first + slots; ++slot) {
    const Block& block = filled_block_of(slot);
    held_.push_back({blocks_.pool().address(block.pool_block), layout_.index_in_block(slot)});
  }
  return held_;
}

void RamTier::let_go(std::int64_t first, std::int64_t slots) {
  for (std::int64_t slot = first; slot < first + slots; ++slot) drop(slot);
}

}  // namespace anadrome::store

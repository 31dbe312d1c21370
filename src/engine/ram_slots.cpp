#include "engine/ram_slots.h"

#include "base/error.h"
#include "store/move_state.h"

namespace anadrome::engine {

RamSlots::RamSlots(const store::BlockLayout& layout, std::span<const store::Field> state_fields,
                   store::Pool& pool, std::function<std::int64_t()> take_block)
    : layout_(layout), fields_(state_fields), pool_(pool), take_block_(std::move(take_block)) {}

void RamSlots::keep(std::int64_t slot) {
  const auto index = static_cast<std::size_t>(slot / layout_.states());
  if (index >= blocks_.size()) blocks_.resize(index + 1);
  Block& block = blocks_[index];
  if (block.pool_block < 0) block.pool_block = take_block_();
  ++block.states;
  store::keep_state(layout_, fields_, pool_.address(block.pool_block), slot % layout_.states());
}

void RamSlots::restore(std::int64_t slot) {
  const Block& block = blocks_.at(static_cast<std::size_t>(slot / layout_.states()));
  if (block.pool_block < 0) throw Error(ANADROME_ERR_INTERNAL, "a checkpoint could not be kept");
  store::restore_state(layout_, fields_, pool_.address(block.pool_block), slot % layout_.states());
}

void RamSlots::drop(std::int64_t slot) {
  Block& block = blocks_.at(static_cast<std::size_t>(slot / layout_.states()));
  if (block.pool_block < 0 || --block.states > 0) return;
  pool_.give_back(block.pool_block);
  block.pool_block = -1;
}

}  // namespace anadrome::engine

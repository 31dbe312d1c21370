#include "engine/ram_slots.h"

#include "base/error.h"

namespace anadrome::engine {

void RamSlots::keep(std::int64_t slot) {
  const auto index = static_cast<std::size_t>(slot / layout_.states());
  if (index >= blocks_.size()) blocks_.resize(index + 1);
  Block& block = blocks_[index];
  if (block.pool_block < 0) block.pool_block = live_.block_to_keep_in();
  ++block.states;
  live_.keep(block.pool_block, slot % layout_.states());
}

void RamSlots::restore(std::int64_t slot) {
  const Block& block = blocks_.at(static_cast<std::size_t>(slot / layout_.states()));
  if (block.pool_block < 0) throw Error(ANADROME_ERR_INTERNAL, "a checkpoint could not be kept");
  live_.restore(block.pool_block, slot % layout_.states());
}

void RamSlots::drop(std::int64_t slot) {
  Block& block = blocks_.at(static_cast<std::size_t>(slot / layout_.states()));
  if (block.pool_block < 0 || --block.states > 0) return;
  pool_.give_back(block.pool_block);
  block.pool_block = -1;
}

}  // namespace anadrome::engine

#include "store/ram_slots.h"

#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace anadrome::store {

RamSlots::Block& RamSlots::block_of(std::int64_t slot) {
  const auto index = static_cast<std::size_t>(slot / layout_.states());
  if (index >= blocks_.size()) blocks_.resize(index + 1);
  return blocks_[index];
}

void RamSlots::keep(std::int64_t slot) {
  Block& block = block_of(slot);
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

std::int64_t RamSlots::slots_for_tape(std::int64_t tape_bytes, std::int64_t state_bytes) {
  if (tape_bytes == 0) return 1;
  return state_bytes == 0 ? -1 : ceil_divide(tape_bytes, state_bytes);
}

void RamSlots::keep_tapes(LiveTape& tape, std::int64_t slots,
                          std::function<std::int64_t()> take_block) {
  tape_ = &tape;
  take_block_ = std::move(take_block);
  places_.resize(static_cast<std::size_t>(slots));
}

void RamSlots::fill_places(std::int64_t first_slot) {
  for (LiveTape::Place& place : places_) {
    const Block& block = block_of(first_slot);
    if (block.pool_block < 0) throw Error(ANADROME_ERR_INTERNAL, "a tape could not be kept");
    place = {pool_.address(block.pool_block), first_slot % layout_.states()};
    ++first_slot;
  }
}

void RamSlots::keep_tape(std::int64_t first_slot) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Block& block = block_of(first_slot + static_cast<std::int64_t>(i));
    if (block.pool_block < 0) block.pool_block = take_block_();
    ++block.states;
  }
  fill_places(first_slot);
  tape_->keep(places_);
}

void RamSlots::restore_tape(std::int64_t first_slot) {
  fill_places(first_slot);
  tape_->restore(places_);
}

void RamSlots::drop_tape(std::int64_t first_slot) {
  for (std::size_t i = 0; i < places_.size(); ++i) drop(first_slot + static_cast<std::int64_t>(i));
}

}  // namespace anadrome::store

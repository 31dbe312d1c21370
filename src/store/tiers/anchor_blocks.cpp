// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/anchor_blocks.h"

#include <utility>

#include "base/checked.h"
#include "base/index.h"

namespace anadrome::store {

void AnchorBlocks::take_over(std::int64_t anchors,
                             const std::function<std::int64_t(std::int64_t)>& step_of,
                             const std::map<std::int64_t, JournalBlock>& blocks) {
  for (std::int64_t first = 0; first < anchors; first += layout_.states()) {
    const std::int64_t number = layout_.block_of(first);
    const std::int64_t last = std::min(first + layout_.states(), anchors) - 1;
    Block block;
    block.states = {step_of(first), step_of(last), last - first + 1};
    block.copied = number == 0;  // as its checksum will tell
    block.place = number;
    States& states = block.states;
    const auto found = blocks.find(number);
    const bool known = found != blocks.end() && found->second.states >= states.count &&
                       found->second.first_step == states.first_step;
    if (known) {
      states.count = found->second.states;
      block.checksum = found->second.sum;
      block.encoded = found->second.encoded;
      if (found->second.place) {
        block.volume = static_cast<int>(found->second.place->volume);
        block.place = found->second.place->place;
      }
    } else {
      block.failure = {ANADROME_ERR_CORRUPT, "the state of step " +
                                                 std::to_string(states.first_step) +
                                                 " was not on disk when the run ended"};
    }
    blocks_.push_back(std::move(block));
  }
  kept_ = written_ = anchors;
}

void AnchorBlocks::truncate(std::int64_t anchors) {
  kept_ = written_ = anchors;
  blocks_.resize(size(ceil_divide(anchors, layout_.states())));
}

AnchorBlocks::Block& AnchorBlocks::note(std::int64_t block, const States& states) {
  const auto index = size(block);
  if (index >= blocks_.size()) blocks_.resize(index + 1);
  Block& noted = blocks_[index];
  noted = {};
  noted.states = states;
  return noted;
}

void AnchorBlocks::note_written(Transfer& transfer) {
  Block& block = (*this)[transfer.identity.block];
  block.copied = transfer.is_copy && !transfer.failure;
  if (!transfer.failure) {
    block.checksum = transfer.checksum;
    block.encoded = std::move(transfer.encoded);
  }
  if (!transfer.is_copy) block.failure = std::move(transfer.failure);
}

BlockIdentity AnchorBlocks::identity_of(std::int64_t block) const {
  BlockIdentity identity = identity_;
  const States& states = (*this)[block].states;
  identity.block = block;
  identity.first_step = states.first_step;
  identity.states = states.count;
  return identity;
}

bool AnchorBlocks::is_on_disk(std::int64_t block) const {
  return reads_copy(block) ? (*this)[block].copied : !(*this)[block].failure;
}

Failure AnchorBlocks::why_not_on_disk(std::int64_t block) const {
  const Failure& unwritten = (*this)[block].failure;
  if (unwritten) return unwritten;
  return {ANADROME_ERR_IO,
          "the state of step 0 could not be read, and its second copy was not written"};
}

std::vector<std::uint64_t> AnchorBlocks::checksums() const {
  std::vector<std::uint64_t> words;
  for (const Block& block : blocks_) {
    words.push_back(block.checksum.low);
    words.push_back(block.checksum.high);
  }
  return words;
}

}  // namespace anadrome::store

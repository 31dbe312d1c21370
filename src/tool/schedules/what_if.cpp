#include "tool/schedules/what_if.h"

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "store/block_layout.h"

namespace anadrome::tool {

Blocks cut_memory(const WhatIf& question, store::DiskUse disk, std::int64_t beside) {
  store::Field state;
  state.count = question.state_bytes;
  const std::array<store::Field, 1> fields = {state};
  store::BlockDemand demand;
  demand.state_bytes = question.state_bytes;
  demand.disk = disk != store::DiskUse::kNone;
  demand.alone = disk == store::DiskUse::kStates;
  const std::int64_t memory = std::max<std::int64_t>(question.memory - beside, 0);
  const store::BlockShape shape = store::choose_block_shape(demand, memory);
  const store::BlockLayout layout(shape, fields);
  Blocks blocks;
  blocks.states = shape.states;
  blocks.bytes = anadrome::checked_add(layout.block_bytes(), store::bookkeeping_bytes(shape, disk));
  blocks.count = memory / blocks.bytes;
  blocks.disk_bytes = anadrome::checked_add(
      anadrome::checked_multiply(layout.block_bytes() + 16, question.ranks), 40 * shape.states);
  return blocks;
}

std::int64_t disk_states(const WhatIf& question, const Blocks& blocks) {
  if (question.disk == kNoLimit) return kNoLimit;
  return question.disk / blocks.disk_bytes * blocks.states;
}

void check(const WhatIf& question) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 60;
  if (question.state_bytes > kLargest / question.ranks) {
    throw Error(ANADROME_ERR_ARGUMENT, "--state times --ranks is more than 2^60 bytes");
  }
  if (question.tape_bytes > kLargest / question.ranks) {
    throw Error(ANADROME_ERR_ARGUMENT, "--tape-size times --ranks is more than 2^60 bytes");
  }
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/what_if.h"

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "engine/memory_plan.h"
#include "store/block_layout.h"

namespace anadrome::tool {

StateBytes state_bytes(const WhatIf& question) {
  store::Field state;
  state.count = question.state_bytes;
  const std::array<store::Field, 1> fields = {state};
  store::BlockDemand demand;
  demand.state_bytes = question.state_bytes;
  demand.disk = demand.alone = true;
  const store::BlockLayout layout(store::choose_block_shape(demand, 0), fields);
  return {engine::least_memory(fields, question.state_bytes, store::DiskUse::kStates, {}),
          anadrome::checked_multiply(layout.block_bytes(), question.ranks)};
}

void check(const WhatIf& question) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 60;
  if (question.state_bytes > kLargest / question.ranks) {
    throw Error(ANADROME_ERR_ARGUMENT, "--state times --ranks is more than 2^60 bytes");
  }
  if (question.tape_bytes > kLargest / question.ranks) {
    throw Error(ANADROME_ERR_ARGUMENT, "--tape-size times --ranks is more than 2^60 bytes");
  }
  const bool half = 2 * question.slot_bytes >= question.state_bytes;
  if (question.slot_bytes > 0 && (!half || question.slot_bytes > question.state_bytes)) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "--slot: a state in single precision takes half of --state at least, and no more "
                "than it");
  }
}

}  // namespace anadrome::tool

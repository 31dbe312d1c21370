// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/problems/what_if.h"

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"
#include "engine/sweep/memory_plan.h"

namespace anadrome::tool {

StateBytes state_bytes(const WhatIf& question) {
  constexpr std::int64_t kPage = 4096;
  store::Field state;
  state.count = question.state_bytes;
  return {engine::least_memory({&state, 1}, question.state_bytes, store::DiskUse::kBlocks, {}),
          anadrome::checked_multiply(round_up(question.state_bytes, kPage), question.ranks)};
}

std::int64_t states_on(std::int64_t disk, std::int64_t state) {
  return disk == kNoLimit ? kNoLimit : disk / state;
}

StreamRoom::StreamRoom(const WhatIf& question)
    : state_bytes(question.state_bytes), slots(question.memory / question.state_bytes) {
  costs.forward = question.forward;
  costs.adjoint = question.adjoint;
  if (!question.has_disk()) return;
  costs.write = question.write_seconds();
  costs.read = question.read_seconds();
  if (question.cores_busy) {
    costs.write_taken = costs.write;
    costs.read_taken = costs.read;
  }
  const std::int64_t state =
      std::max<std::int64_t>(question.compression.of(tool::state_bytes(question).disk), 1);
  disk_states = states_on(question.disk, state);
  if (question.has_fast() && disk_states < kNoLimit) {
    const std::int64_t more = states_on(question.fast.disk, state);
    disk_states = more < kNoLimit ? disk_states + more : kNoLimit;
  }
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

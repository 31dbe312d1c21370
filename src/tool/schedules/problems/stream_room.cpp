// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/problems/stream_room.h"

#include <algorithm>

namespace anadrome::tool {
namespace {

std::int64_t states_on(std::int64_t disk, std::int64_t state) {
  return disk == kNoLimit ? kNoLimit : disk / state;
}

}  // namespace

StreamRoom::StreamRoom(const WhatIf& question)
    : state_bytes_(question.state_bytes), slots_(question.memory / question.state_bytes) {
  costs_.forward = question.forward;
  costs_.adjoint = question.adjoint;
  if (!question.has_disk()) return;
  costs_.write = question.write_seconds();
  costs_.read = question.read_seconds();
  if (question.cores_busy) {
    costs_.write_taken = costs_.write;
    costs_.read_taken = costs_.read;
  }
  const std::int64_t state =
      std::max<std::int64_t>(question.compression.of(tool::state_bytes(question).disk), 1);
  disk_states_ = states_on(question.disk, state);
  if (question.has_fast() && disk_states_ < kNoLimit) {
    const std::int64_t more = states_on(question.fast.disk, state);
    disk_states_ = more < kNoLimit ? disk_states_ + more : kNoLimit;
  }
}

}  // namespace anadrome::tool

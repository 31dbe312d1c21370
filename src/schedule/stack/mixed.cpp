// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/mixed.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace anadrome::schedule {
namespace {

TapeLevels::Start start_of(std::int64_t steps, std::int64_t units, Place held) {
  if (steps < 0 || steps > kMostSteps) {
    throw Error(ANADROME_ERR_ARGUMENT, "a mixed schedule needs 0 <= steps <= 2^62");
  }
  // More units than steps of the longest schedule are as good as these.
  const std::int64_t free = std::min(units, kMostSteps - 1);
  if (held != Place::kNowhere) return {free + 1, held != Place::kRam};
  if (free < 1 && steps > 1) {
    throw Error(ANADROME_ERR_ARGUMENT, "a mixed schedule of " + std::to_string(steps) +
                                           " steps needs memory for at least one state");
  }
  return {free, false};  // it will be in RAM, unless a tape comes at once
}

}  // namespace

uint128 mixed_advances(std::int64_t steps, std::int64_t units, std::int64_t tape_units,
                       bool tape_restarts) {
  Segment segment;
  segment.last = steps;
  segment.units = units;
  return MixedPlanner(tape_units, tape_restarts).advances(segment);
}

MixedPlanner::MixedPlanner(std::int64_t tape_units, bool tape_restarts)
    : levels_(tape_units, tape_restarts) {
  if (tape_units < 1) {
    throw Error(ANADROME_ERR_ARGUMENT, "a mixed schedule needs tapes of at least one unit");
  }
}

Placement MixedPlanner::place(const Segment& segment) {
  const std::int64_t steps = segment.last - segment.first;
  const TapeLevels::Start start = start_of(steps, segment.units, segment.held);
  if (levels_.begins_with_tape(steps, start)) return {Place::kTape, 0};
  if (segment.held == Place::kNowhere) return {Place::kRam, 0};
  return {Place::kNowhere, levels_.split(steps, start)};
}

uint128 MixedPlanner::advances(const Segment& segment) {
  const std::int64_t steps = segment.last - segment.first;
  return levels_.advances(steps, start_of(steps, segment.units, segment.held));
}

}  // namespace anadrome::schedule

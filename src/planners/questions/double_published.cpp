// SPDX-License-Identifier: BSD-2-Clause
#include "planners/questions/double_published.h"

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"

namespace anadrome::questions {

using schedule::DoubleSweep;
using schedule::uint128;
using schedule::wide;

std::int64_t double_interval(std::int64_t steps, std::int64_t transfer_steps,
                             std::int64_t off_chip) {
  if (steps < 1 || transfer_steps < 1 || off_chip < 1) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "double checkpointing needs steps, transfers of at least one step, and room off "
                "chip for a state");
  }
  return std::min(steps, std::max(transfer_steps, ceil_divide(steps, off_chip)));
}

DoubleSweep double_sweep(std::int64_t steps, std::int64_t interval, std::int64_t tape_units) {
  DoubleSweep sweep;
  sweep.steps = steps;
  sweep.interval = std::min(interval, steps);
  sweep.full = schedule::best_double_interval(sweep.interval, tape_units);
  sweep.intervals = ceil_divide(steps, sweep.interval);
  const std::int64_t rest = steps - (sweep.intervals - 1) * sweep.interval;
  sweep.last = schedule::double_interval_within(rest, tape_units, sweep.full.local_units);
  return sweep;
}

uint128 forwards_of(const DoubleSweep& sweep) {
  return wide(sweep.steps) + wide(sweep.intervals - 1) * wide(sweep.full.forwards()) +
         wide(sweep.last.forwards());
}

}  // namespace anadrome::questions

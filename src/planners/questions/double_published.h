// SPDX-License-Identifier: BSD-2-Clause
// Double checkpointing as it was published (arXiv 2412.11810): the forward sweep to its end, then
// all intervals, the last one too; copies off chip are never waited for.
#pragma once

#include <cstdint>

#include "planners/two_tier/double_sweep.h"

namespace anadrome::questions {

/// The interval that needs the least local memory where a copy takes as long as `transfer_steps`
/// steps and `off_chip` states fit there.
std::int64_t double_interval(std::int64_t steps, std::int64_t transfer_steps,
                             std::int64_t off_chip);

/// `interval` steps between copies, all of them if it is above `steps`: the sweep takes
/// `full.local_units` of memory, and room for `intervals` states off chip. Throws as
/// best_double_interval does for an interval.
schedule::DoubleSweep double_sweep(std::int64_t steps, std::int64_t interval,
                                   std::int64_t tape_units);

/// Forward steps in all.
schedule::uint128 forwards_of(const schedule::DoubleSweep& sweep);

}  // namespace anadrome::questions

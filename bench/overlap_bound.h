// SPDX-License-Identifier: BSD-2-Clause
// A time that no plan with overlapped transfers can beat (docs/theory-async.md).
#pragma once

#include <cstdint>

#include "planners/lists/overlapped.h"

namespace anadrome::bench {

/// The worth of a second of processor and disk before the first adjoint step and after it: the
/// processor has 1 - before and 1 - after, the disk the rest.
struct DiskShares {
  double before = 0, after = 0;
};

/// Seconds. O(slots * block^2) time, O(slots * block) memory; a chain longer than `block` is taken
/// in blocks, which loses a little.
double overlapped_lower_bound(std::int64_t steps, std::int64_t slots,
                              const schedule::OverlapTimes& times, const DiskShares& shares,
                              std::int64_t block);

/// The best bound: it is concave in the shares, which are searched.
double overlapped_lower_bound(std::int64_t steps, std::int64_t slots,
                              const schedule::OverlapTimes& times, std::int64_t block = 400);

}  // namespace anadrome::bench

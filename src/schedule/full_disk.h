// SPDX-License-Identifier: BSD-2-Clause
// The steps of a sweep whose disk becomes full on the way: it is played until then, in numbers.
#pragma once

#include <cstdint>

#include "schedule/sweep.h"

namespace anadrome::schedule {

/// Advances of the whole `sweep`, which is at its beginning, if the disk refuses the state after
/// the first `anchors`; its questions are answered by `measured`. kUnknown: it cannot be told in
/// time.
std::int64_t advances_on_full_disk(Sweep& sweep, Measured measured, std::int64_t anchors,
                                   const DiskLeft& left);

}  // namespace anadrome::schedule

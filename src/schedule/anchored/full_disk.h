// SPDX-License-Identifier: BSD-2-Clause
// Sweeps that are played in numbers: whole ones, and the steps of one whose disk becomes full on
// the way.
#pragma once

#include <cstdint>

#include "schedule/words/sweep.h"

namespace anadrome::schedule {

/// The answer to Decide, all that it asks for being there.
void decide_at_once(Sweep& sweep, Measured& measured);

/// Advances of the whole `sweep`, which is at its beginning, if the disk refuses the state after
/// the first `anchors`; its questions are answered by `measured`. kUnknown: it cannot be told in
/// time.
std::int64_t advances_on_full_disk(Sweep& sweep, Measured measured, std::int64_t anchors,
                                   const DiskLeft& left);

}  // namespace anadrome::schedule

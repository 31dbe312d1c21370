// SPDX-License-Identifier: BSD-2-Clause
// A recorded sweep as a picture: the whole, and the time around TURN closely. Its size does not
// grow with the number of events.
#pragma once

#include "base/text_out.h"
#include "tool/pictures/recorded_sweep.h"

namespace anadrome::tool {

/// Lanes of the first ranks; the others count in the sums only. Throws what the sink of `out`
/// throws.
void draw_timeline(const RecordedSweep& sweep, TextOut& out);

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// A piece of an overlapped plan, played by itself.
#pragma once

#include <cstdint>

#include "planners/lists/overlap_piece.h"

namespace anadrome::schedule {

/// The time of a piece from where it begins: x_1 live and in a slot, x_0 before it on disk. Writes
/// take no time, so that the disk is idle.
inline double played(const OverlapPiece& piece, std::int64_t slots, OverlapTimes times,
                     bool base_on_disk) {
  times.write = 0;
  Timeline timeline(slots, times, nullptr);
  timeline.act(OverlapKind::kKeep, 0);
  timeline.act(OverlapKind::kWrite, 0);
  timeline.act(OverlapKind::kDrop, 0);
  timeline.act(OverlapKind::kAdvance, 0, 1);
  timeline.act(OverlapKind::kKeep, 1);
  if (base_on_disk) timeline.act(OverlapKind::kWrite, 1);
  timeline.play(piece, 1, 0);
  timeline.act(OverlapKind::kRestore, 0);
  return timeline.now() - 1;
}

}  // namespace anadrome::schedule

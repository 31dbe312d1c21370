// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/anchored/full_disk.h"

#include <variant>

namespace anadrome::schedule {

void decide_at_once(Sweep& sweep, Measured& measured) {
  for (;;) {
    const Next next = sweep.decide(measured);
    if (next == Next::kGoOn) return;
    ++measured.agreement;
  }
}

std::int64_t advances_on_full_disk(Sweep& sweep, Measured measured, std::int64_t anchors,
                                   const DiskLeft& left) {
  constexpr std::int64_t kMostActions = 1 << 20;  // some 100 ms
  std::int64_t advances = 0, kept = 0;
  for (std::int64_t count = 0; count < kMostActions; ++count) {
    const Action action = sweep.next();
    const bool refused = kept > anchors;  // found out when the action after the Keep is known
    if (refused) sweep.disk_is_full(left);
    if (const auto* const advance = std::get_if<Advance>(&action)) {
      advances += advance->last - advance->first;
    } else if (const auto* const keep = std::get_if<Keep>(&action)) {
      if (keep->tier != kRamTier) ++kept;
    } else if (std::holds_alternative<Decide>(action)) {
      ++measured.agreement;
      decide_at_once(sweep, measured);
    }
    if (!refused && !std::holds_alternative<Turn>(action)) continue;
    const std::int64_t to_come = sweep.advances_remaining();
    return to_come == kUnknown ? kUnknown : advances + to_come;
  }
  return kUnknown;
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// One run as a whole: its files, taken together.
#pragma once

#include "tool/runs/run_listing.h"
#include "tool/runs/run_report.h"
#include "tool/runs/segments/segment_check.h"

namespace anadrome::tool {

Condition condition_of(const ListedRun& run);

/// A live run's states are not looked at: they change.
RunReport check_run(const ListedRun& run, Depth depth);

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// All schedules that `anadrome plan` compares and `anadrome count` counts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tool/schedules/schedule.h"

namespace anadrome::tool {

// One of each, in their order in the table.
Schedule store_all_schedule();
Schedule revolve_schedule();
Schedule async_schedule();
Schedule overlapped_schedule();
Schedule disk_revolve_schedule();
Schedule hrevolve_schedule();
Schedule multistage_schedule();
Schedule mixed_schedule();
Schedule double_schedule();
Schedule least_memory_schedule();
Schedule uneven_schedule();
Schedule online_schedule();
Schedule undo_schedule();

/// The simplest first: of equals, the first is recommended.
std::span<const Schedule> all_schedules();

/// By its name, in any case. Throws ERR_ARGUMENT, naming `option` and all schedules, if there is
/// none.
const Schedule& schedule_named(const char* option, std::string_view name);

/// "store_all, revolve, ..."; `counted`: those only that can be counted.
std::string schedule_names(bool counted = false);

}  // namespace anadrome::tool

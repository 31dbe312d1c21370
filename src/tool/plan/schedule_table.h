// All schedules that `anadrome plan` compares.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tool/plan/schedule.h"

namespace anadrome::tool {

/// The simplest first: of equals, the first is recommended.
std::span<const Schedule> all_schedules();

/// Throws ERR_ARGUMENT, with all names, if there is none of that name.
const Schedule& schedule_named(std::string_view name);

/// "store_all, revolve, ..."
std::string schedule_names();

}  // namespace anadrome::tool

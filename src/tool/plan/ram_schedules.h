// Schedules that keep states in RAM only: store_all and revolve.
#pragma once

#include "tool/plan/schedule.h"

namespace anadrome::tool {

Schedule store_all_schedule();
Schedule revolve_schedule();

}  // namespace anadrome::tool

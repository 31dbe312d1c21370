// Schedules for a solver that waits for the disk: Disk-Revolve, H-Revolve, multistage.
#pragma once

#include "tool/plan/schedule.h"

namespace anadrome::tool {

Schedule disk_revolve_schedule();
Schedule hrevolve_schedule();
Schedule multistage_schedule();

}  // namespace anadrome::tool

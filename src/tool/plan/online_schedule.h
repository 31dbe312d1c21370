// Revolve for a number of steps that is not known beforehand: online.
#pragma once

#include "tool/plan/schedule.h"

namespace anadrome::tool {

Schedule online_schedule();

}  // namespace anadrome::tool

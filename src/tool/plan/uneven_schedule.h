// Steps that cost differently, states that differ in size: uneven.
#pragma once

#include "tool/plan/schedule.h"

namespace anadrome::tool {

Schedule uneven_schedule();

}  // namespace anadrome::tool

// `double` as a row of the comparison: the loops of schedule/double_sweep.h within a run's memory.
#pragma once

#include "tool/plan/schedule.h"

namespace anadrome::tool {

Schedule double_schedule();

}  // namespace anadrome::tool

// `least_memory` as a row of the comparison: states that are all alike. Of uneven ones it is a
// question of its own (least_memory_question.h).
#pragma once

#include "tool/plan/schedule.h"

namespace anadrome::tool {

Schedule least_memory_schedule();

}  // namespace anadrome::tool

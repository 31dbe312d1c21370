// States and tapes in one memory: mixed.
#pragma once

#include "tool/plan/schedule.h"

namespace anadrome::tool {

Schedule mixed_schedule();

}  // namespace anadrome::tool

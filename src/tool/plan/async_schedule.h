// Asynchronous multistage checkpointing: anchors on disk while the solver computes, Revolve
// between.
#pragma once

#include "tool/plan/schedule.h"

namespace anadrome::tool {

Schedule async_schedule();

}  // namespace anadrome::tool

// Asynchronous multistage checkpointing: anchors on disk while the solver computes, Revolve
// between.
#pragma once

#include "tool/plan/schedule.h"

namespace anadrome::tool {

Schedule async_schedule();

/// The plan alone, action by action.
Schedule overlapped_schedule();

}  // namespace anadrome::tool

// One run as a whole: its files, taken together.
#pragma once

#include <nlohmann/json.hpp>

#include "store/run_listing.h"
#include "tool/runs/segment_check.h"

namespace anadrome::tool {

/// Has it no lock, and journals? Then it was stopped, or ended with an error, after a commit.
bool waits_to_go_on(const store::ListedRun& run);

/// {"path", "state": "live"|"dead"|"kept"|"stopped", "run_id", "bytes", "sweep", "steps", "ranks",
/// "layout", "schedule", "anchors", "first_step", "newest_step", "resume": {..}|null, "files":
/// [{"name", "bytes", "problems", "notes"}..], "healthy", "problems": [..]}; what is not known is
/// null. A live run's states are not looked at: they change.
nlohmann::json check_run(const store::ListedRun& run, Depth depth);

}  // namespace anadrome::tool

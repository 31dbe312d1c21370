// One run as a whole: its files, taken together.
#pragma once

#include <nlohmann/json.hpp>

#include "store/run_listing.h"
#include "tool/runs/segment_check.h"

namespace anadrome::tool {

/// {"path", "state": "live"|"dead"|"kept", "run_id", "bytes", "sweep", "steps", "ranks", "layout",
/// "schedule", "anchors", "first_step", "newest_step", "resume": {..}|null, "files": [{"name",
/// "bytes", "problems"}..], "healthy", "problems": [..]}; what is not known is null. A live run's
/// states are not looked at: they change.
nlohmann::json check_run(const store::ListedRun& run, Depth depth);

}  // namespace anadrome::tool

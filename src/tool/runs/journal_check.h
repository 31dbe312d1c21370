// What a rank's journal says, and whether the blocks it needs are those that were written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tool/runs/segment_check.h"

namespace anadrome::tool {

/// {"rank", "ranks", "sweep", "steps", "run", "torn", "segments": [file..], "commits":
/// [{"generation", "phase", "position", "steps", "anchors"}..], "blocks", "blocks_checked",
/// "problems": [..]}; of a file that cannot be read only the problems. Blocks beyond the anchors of
/// the newest commit may be rewritten at any time; they are not looked at.
nlohmann::json check_journal(const std::string& directory, const std::string& file, Depth depth);

}  // namespace anadrome::tool

// What a segment says about itself, and whether its states are those that were written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace anadrome::tool {

/// How far to look.
enum class Depth {
  kStructure,  ///< what describes the states
  kBytes       ///< every state, too
};

/// {"run_id", "layout", "segment", "sweep", "ranks": [..], "slots_used", "steps": [..],
/// "blocks_checked", "blocks_unchecked", "problems": [..]}; of a file that cannot be read only the
/// problems. `kept`: the run ended with keep=on; otherwise the tables for readers were never
/// written.
nlohmann::json check_segment(const std::string& path, bool kept, Depth depth);

/// Of the master: {"run_id", "schedule", "steps_of_sweep", "steps": [..], "problems": [..]}.
nlohmann::json check_master(const std::string& path);

}  // namespace anadrome::tool

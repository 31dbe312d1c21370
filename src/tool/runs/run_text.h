// What is known of a run, for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace anadrome::tool {

/// Of what check_run found. `verified`: the states were read, too.
std::string describe_run(const nlohmann::json& run, bool verified);

}  // namespace anadrome::tool

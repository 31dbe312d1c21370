// What lies in a run's directory.
#pragma once

#include <string>
#include <vector>

namespace anadrome::store {

inline constexpr const char* kLockName = "lock";

/// Is this a name of a file that runs make?
bool is_run_file(const std::string& name);

/// The names in the directory at `path`, journals first. Removed in this order, a run without its
/// journals is over, whatever else is left of it. Throws ERR_IO.
std::vector<std::string> files_in(const std::string& path);

}  // namespace anadrome::store

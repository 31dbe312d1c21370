// SPDX-License-Identifier: BSD-2-Clause
// The files in a run's directory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace anadrome::store {

inline constexpr const char* kLockName = "lock";
/// Followed by the run id: no rank of another run takes it for its own.
inline constexpr std::string_view kHeartbeatStem = "heartbeats-";

/// Is this a name of a file that runs make?
bool is_run_file(const std::string& name);
bool is_heartbeat_file(std::string_view name);
bool is_journal(std::string_view name);

/// The names in the directory at `path`, journals first. Removed in this order, a run without its
/// journals is over, whatever else is left of it. Throws ERR_IO.
std::vector<std::string> files_in(const std::string& path);

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// Whether the virtual datasets of a kept run show what its segments hold.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace anadrome::tool {

/// A problem for each of those among `files` in `directory` that show something else or cannot be
/// read; all states are read through HDF5 and from their places. states.h5 is looked at where all
/// segments are sound.
std::map<std::string, std::string> check_views(const std::string& directory,
                                               const std::vector<std::string>& files);

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// Files that questions are asked about.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace anadrome::tool {

/// All that is in a file. Throws ERR_ARGUMENT, naming `option`.
std::string text_of_file(const char* option, const std::string& file);

/// Whole numbers, with commas or white space between; '#' begins a comment. Throws ERR_ARGUMENT.
std::vector<std::int64_t> counts_in(const char* option, const std::string& text,
                                    std::int64_t least);

}  // namespace anadrome::tool

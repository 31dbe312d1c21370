// What a command answers, on standard output.
#pragma once

#include <string_view>

namespace anadrome::tool {

/// Throws ERR_IO or ERR_NO_SPACE if it cannot be written.
void put_out(std::string_view text);

}  // namespace anadrome::tool

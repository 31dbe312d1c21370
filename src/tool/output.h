// SPDX-License-Identifier: BSD-2-Clause
// The answer of a command: on standard output, or in a file.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/text_out.h"

namespace anadrome::tool {

/// Throws ERR_IO or ERR_NO_SPACE if it cannot be written.
void put_out(std::string_view text);

/// `text` in lines of at most `columns`, broken at spaces: the first one begins with `label`,
/// further ones below the first letter after it.
std::string wrapped(std::string_view label, std::string_view text, std::size_t columns);

/// Into a new file `name`, which `option` gave. Throws ERR_IO, naming both.
void put_in_file(const char* option, const std::string& name,
                 const std::function<void(TextOut&)>& write);

}  // namespace anadrome::tool

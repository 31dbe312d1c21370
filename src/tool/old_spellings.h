// Spellings of `anadrome plan` from the time when it was one command for every question.
#pragma once

#include <span>
#include <string>

namespace anadrome::tool {

/// The new spelling, if `words` (all after the program's name) are an old one; otherwise "".
std::string moved_spelling(std::span<const char* const> words);

}  // namespace anadrome::tool

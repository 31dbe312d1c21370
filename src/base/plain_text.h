// SPDX-License-Identifier: BSD-2-Clause
// What comes from outside (paths, names, hosts, texts of files) may be anything. Before it is shown
// it comes through here: one line of text, in which nothing moves a terminal's cursor.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace anadrome {

/// A '?' for each byte that is of a control character, of an order of writing, or of no character
/// in UTF-8. In place, and takes no memory.
void make_plain(char* text, std::size_t bytes) noexcept;
std::string plain(std::string_view text);

}  // namespace anadrome

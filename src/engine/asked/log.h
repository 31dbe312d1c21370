// SPDX-License-Identifier: BSD-2-Clause
// Where lines for the user go: to standard error, or to the function of anadrome_set_log. They are
// said where a rank must not fail alone: nothing here takes memory or throws.
#pragma once

#include <anadrome/log.h>

#include <initializer_list>
#include <string_view>

namespace anadrome::engine {

void set_log(anadrome_log_fn log, void* data) noexcept;
bool has_log() noexcept;
/// One line, made plain; on standard error after "anadrome: ". The function gets 4095 bytes at
/// most.
void log_line(anadrome_log_level level, std::initializer_list<std::string_view> parts) noexcept;

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// Threads of the library's.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>

namespace anadrome {

/// Calls serve(stop) on a thread of that name, whose arithmetic is the library's: the caller's
/// rounding and traps would be inherited. `task`: what it is for, in a message. Throws ERR_MEMORY
/// if the system refuses another thread.
std::jthread start_thread(const char* name, const std::string& task,
                          std::function<void(const std::stop_token&)> serve);

}  // namespace anadrome

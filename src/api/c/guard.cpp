// SPDX-License-Identifier: BSD-2-Clause
#include "api/c/guard.h"

#include <algorithm>
#include <cstring>

namespace {

// Fixed memory: even "out of memory" can be said.
thread_local char last_error[1024] = "";

}  // namespace

namespace anadrome::api {

void remember(const std::string& message) noexcept {
  std::strncpy(last_error, message.c_str(), sizeof last_error - 1);
  std::replace(last_error, last_error + sizeof last_error, '\n', ' ');
}

}  // namespace anadrome::api

const char* anadrome_last_error(void) { return last_error; }

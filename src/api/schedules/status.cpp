// SPDX-License-Identifier: BSD-2-Clause
// The outcomes of calls: their names, and the text of the last failure.
#include <anadrome/status.h>

#include <algorithm>
#include <cstring>

#include "api/schedules/guard.h"
#include "base/error.h"

namespace {

// Fixed memory: even "out of memory" can be said.
thread_local char last_error[1024] = "";

}  // namespace

void anadrome_keep_error(const char* message) noexcept {
  std::strncpy(last_error, message, sizeof last_error - 1);
  std::replace(last_error, last_error + sizeof last_error, '\n', ' ');
}

const char* anadrome_last_error(void) { return last_error; }

const char* anadrome_status_name(anadrome_status status) { return anadrome::status_name(status); }

// SPDX-License-Identifier: BSD-2-Clause
#include <anadrome/log.h>

#include "api/schedules/guard.h"
#include "engine/asked/log.h"

anadrome_status anadrome_set_log(anadrome_log_fn log, void* data) {
  return anadrome::api::guard([&] { anadrome::engine::set_log(log, data); });
}

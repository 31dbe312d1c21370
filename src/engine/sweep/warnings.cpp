// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/warnings.h"

namespace anadrome::engine {

void Warnings::warn(std::initializer_list<std::string_view> what) {
  if (sweep_.warned) return;
  sweep_.warned = true;
  say(what);
}

void Warnings::say(std::initializer_list<std::string_view> what, anadrome_log_level level) {
  if (!first_rank_) return;
  progress_.finish();
  log_line(level, what);
}

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/warnings.h"

#include <cstdio>

namespace anadrome::engine {

void Warnings::warn(std::initializer_list<std::string_view> what) {
  if (sweep_.warned) return;
  sweep_.warned = true;
  say(what);
}

void Warnings::say(std::initializer_list<std::string_view> what) {
  if (!first_rank_ || !options_.warnings) return;
  progress_.finish();
  std::fputs("anadrome: ", stderr);
  for (const std::string_view part : what) std::fwrite(part.data(), 1, part.size(), stderr);
  std::fputc('\n', stderr);
}

}  // namespace anadrome::engine

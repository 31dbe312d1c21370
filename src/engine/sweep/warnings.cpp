// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/warnings.h"

#include <cstdio>

#include "base/plain_text.h"

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
  for (const std::string_view part : what) put_plain(part, stderr);
  std::fputc('\n', stderr);
}

}  // namespace anadrome::engine

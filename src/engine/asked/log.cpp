// SPDX-License-Identifier: BSD-2-Clause
#include "engine/asked/log.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>

#include "base/arithmetic.h"
#include "base/plain_text.h"

namespace anadrome::engine {
namespace {

struct Log {
  anadrome_log_fn function = nullptr;
  void* data = nullptr;
};

std::mutex guard;
Log current;

// A copy: a line that is said inside the function must not wait for itself.
Log log_now() {
  const std::lock_guard lock(guard);
  return current;
}

}  // namespace

void set_log(anadrome_log_fn log, void* data) noexcept {
  const std::lock_guard lock(guard);
  current = {log, data};
}

bool has_log() noexcept { return log_now().function != nullptr; }

void log_line(anadrome_log_level level, std::initializer_list<std::string_view> parts) noexcept {
  const Log log = log_now();
  std::array<char, 4096> line{};
  std::size_t bytes = 0;
  const auto add = [&](std::string_view part) {
    part = part.substr(0, line.size() - 1 - bytes);
    std::copy(part.begin(), part.end(), line.begin() + static_cast<std::ptrdiff_t>(bytes));
    bytes += part.size();
  };
  if (log.function == nullptr) add("anadrome: ");
  for (const std::string_view part : parts) add(part);
  make_plain(line.data(), bytes);
  if (log.function == nullptr) {  // in one call, for the lines of several ranks come together
    line[bytes] = '\n';
    std::fwrite(line.data(), 1, bytes + 1, stderr);
    return;
  }
  const CallersArithmetic callers;
  try {
    log.function(level, line.data(), log.data);
  } catch (...) {  // a line is worth no failure
  }
}

}  // namespace anadrome::engine

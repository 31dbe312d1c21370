// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "base/byte_size.h"
#include "base/clock.h"
#include "base/text_out.h"
#include "engine/asked/log.h"

namespace anadrome::engine {
namespace {

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  char text[16];
  if (::localtime_r(&now, &local) == nullptr) return "";
  return std::string(text, std::strftime(text, sizeof text, "%H:%M:%S", &local));
}

}  // namespace

void Progress::start(bool on) {
  on_ = on;
  terminal_ = on && !has_log() && ::isatty(STDERR_FILENO) != 0;
  start_ = next_ = now_seconds();
  width_ = 0;
}

void Progress::show(double now, bool reverse, std::int64_t step, std::int64_t steps, double done,
                    double left) {
  std::string line = time_of_day() + (reverse ? "  reverse  at step " : "  forward  at step ");
  line += std::to_string(step);
  if (steps >= 0) line += " of " + std::to_string(steps);
  if (left >= 0) {
    const std::string percent =
        format_number(100 * done / (done + left + 1e-12), std::chars_format::fixed, 1);
    line += std::string(percent.size() < 5 ? 7 - percent.size() : 2, ' ') + percent + " %  " +
            format_seconds(left) + " left";
  }
  constexpr double kTerminalPeriod = 0.1, kLogPeriod = 5, kPart = 1.0 / 50;
  next_ = now + (terminal_ ? kTerminalPeriod : std::max(kLogPeriod, kPart * (now - start_)));
  const std::size_t length = line.size();
  if (has_log()) {
    log_line(ANADROME_LOG_PROGRESS, {line});
    return;
  }
  if (terminal_) {
    if (length < width_) line.append(width_ - length, ' ');
    std::fprintf(stderr, "\r%s", line.c_str());
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  std::fflush(stderr);
  width_ = length;
}

void Progress::finish() {
  if (on_ && terminal_ && width_ > 0) {
    std::fprintf(stderr, "\r%*s\r", static_cast<int>(width_), "");
    std::fflush(stderr);
  }
  on_ = false;
}

}  // namespace anadrome::engine

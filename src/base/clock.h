// SPDX-License-Identifier: BSD-2-Clause
// Clocks, in seconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

#include "base/index.h"

namespace anadrome {

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of the calendar since 1970: what different hosts can compare, as far as their clocks
/// agree.
inline std::int64_t calendar_seconds() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::seconds>(system_clock::now().time_since_epoch())
      .count();
}

/// Seconds that a reading of the clock takes.
inline double clock_seconds() {
  static const double least = [] {
    double shortest = 1;
    for (int i = 0; i < 32; ++i) {
      const double start = now_seconds();
      shortest = std::min(shortest, now_seconds() - start);
    }
    return shortest;
  }();
  return least;
}

/// Processor time of the calling thread.
inline double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return real(time.tv_sec) + 1e-9 * real(time.tv_nsec);
}

/// Adds the time from construction to destruction to a sum.
class AddTime {
 public:
  explicit AddTime(double& sum) : sum_(sum), start_(now_seconds()) {}
  ~AddTime() { sum_ += now_seconds() - start_; }
  AddTime(const AddTime&) = delete;
  AddTime& operator=(const AddTime&) = delete;

 private:
  double& sum_;
  double start_;
};

}  // namespace anadrome

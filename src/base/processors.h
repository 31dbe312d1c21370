// SPDX-License-Identifier: BSD-2-Clause
// The processors that a thread may run on. std::thread::hardware_concurrency() counts those of the
// machine, whatever a thread is bound to.
#pragma once

#include <sched.h>

#include <array>
#include <bit>
#include <cstdint>

namespace anadrome {

/// A bit for each.
using Processors = std::array<std::uint64_t, 128>;

/// Of the calling thread, and of threads that it starts. None where the system does not tell.
inline Processors allowed_processors() {
  Processors allowed = {};
  const int failed =
      sched_getaffinity(0, sizeof allowed, reinterpret_cast<cpu_set_t*>(allowed.data()));
  return failed != 0 ? Processors{} : allowed;
}

inline int count(const Processors& processors) {
  int count = 0;
  for (const std::uint64_t word : processors) count += std::popcount(word);
  return count;
}

}  // namespace anadrome

// SPDX-License-Identifier: BSD-2-Clause
// The processors that a thread may run on. std::thread::hardware_concurrency() counts those of the
// machine, whatever a thread is bound to.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/platform/platform.h"

namespace anadrome {

/// A bit for each.
using Processors = std::array<std::uint64_t, 128>;

/// Of the calling thread, and of threads that it starts. None where the system does not tell.
inline Processors allowed_processors() {
  Processors allowed = {};
  return platform::allowed_processors(allowed) ? allowed : Processors{};
}

inline int count(const Processors& processors) {
  int count = 0;
  for (const std::uint64_t word : processors) count += std::popcount(word);
  return count;
}

}  // namespace anadrome

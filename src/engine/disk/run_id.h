// SPDX-License-Identifier: BSD-2-Clause
// The name that a run's files carry, which no other run has.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "engine/ranks/ranks.h"

namespace anadrome::engine {

/// 32 hexadecimal digits and a zero.
using RunId = std::array<char, 33>;

/// The same on all ranks. Collective; takes no memory from the heap.
RunId new_run_id(Ranks& ranks);

/// Two words that stand for a run in checksums and journals.
struct RunWords {
  std::uint64_t low = 0, high = 0;
};
RunWords words_of(const std::string& run_id);

}  // namespace anadrome::engine

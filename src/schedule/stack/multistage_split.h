// SPDX-License-Identifier: BSD-2-Clause
// The split of a reversal after which the states that are used least lie lowest on the stack.
#pragma once

#include <cstdint>

#include "schedule/words/revolve.h"

namespace anadrome::schedule {

/// Which of Revolve's optimal splits, all with as many advances.
enum class MultistageSplits : std::uint8_t {
  kPublished,  ///< those of Griewank & Walther 2000, which ADOL-C and PETSc take
  kShortest,   ///< the shortest advance: fewer accesses to the lower places of the stack
};

/// Steps to advance from a kept state, one of `slots`, in a reversal of `steps` steps. steps >= 2.
std::int64_t multistage_split(Splitter& splitter, std::int64_t steps, std::int64_t slots,
                              MultistageSplits splits);

}  // namespace anadrome::schedule

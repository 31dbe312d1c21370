// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/words/placement.h"

#include "base/error.h"

namespace anadrome::schedule {

Next Planner::decide(const Segment&, std::int64_t, const Measured&) {
  throw Error(ANADROME_ERR_INTERNAL, "a planner was asked for a decision that it does not make");
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/words/sweep.h"

#include <string>

#include "base/error.h"

namespace anadrome::schedule {

Next Sweep::decide(const Measured&) {
  throw Error(ANADROME_ERR_INTERNAL, "a decision was made that nobody asked for");
}

void Sweep::finish_forward(std::int64_t steps) {
  throw Error(ANADROME_ERR_ARGUMENT,
              "finish_forward(" + std::to_string(steps) + "): the number of steps is known");
}

bool Sweep::lose(std::int64_t) { return false; }

void Sweep::rewind(std::int64_t) {
  throw Error(ANADROME_ERR_ORDER, "rewind: nothing is left to begin with");
}

void Sweep::begin_pass(const Pass&) {
  throw Error(ANADROME_ERR_INTERNAL, "a pass was begun by a sweep");
}

void Sweep::resume(const Middle&) {
  throw Error(ANADROME_ERR_INTERNAL, "a sweep goes on that left no anchors");
}

const AnchorList& Sweep::anchors() const {
  static const AnchorList none;
  return none;
}

}  // namespace anadrome::schedule

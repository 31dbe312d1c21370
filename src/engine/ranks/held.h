// SPDX-License-Identifier: BSD-2-Clause
// A failure that one rank meets alone (a pack callback's, no memory for a table) is its own affair
// until the next agreement: leaving at once would leave the other ranks waiting.
#pragma once

#include "base/error.h"

namespace anadrome::engine {

class Held {
 public:
  /// The first failure counts.
  void hold(const Failure& failure) {
    if (!failure_) failure_ = failure;
  }
  /// Runs `body`; holds what it throws.
  template <class Body>
  void attempt(Body&& body) {
    try {
      body();
    } catch (...) {
      hold(current_failure());
    }
  }
  const Failure& failure() const { return failure_; }
  void clear() { failure_ = {}; }

 private:
  Failure failure_;
};

}  // namespace anadrome::engine

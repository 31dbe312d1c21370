// SPDX-License-Identifier: BSD-2-Clause
// What this process holds, so that a test can say that a run left nothing behind.
#pragma once

#include <cstdint>

namespace anadrome::test {

struct Resources {
  std::int64_t descriptors = 0;
  std::int64_t threads = 0;  ///< without those that are ending: pthread_join returns a little early
  static Resources now();
  bool operator==(const Resources&) const = default;
};

}  // namespace anadrome::test

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/disk/silence.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace anadrome::engine {
namespace {

// With a limit of 3 s, and looks that count for 2 s at most.
TEST(Silence, IsTooLongAfterItsLimitSinceTheLastOtherHeartbeat) {
  const struct {
    const char* what;
    std::vector<std::pair<double, std::int64_t>> looks;  ///< seconds since the last, and the beat
    double seconds;
    bool too_long;
  } rows[] = {{"the limit", {{1, 7}, {1, 7}, {1, 7}}, 2, false},
              {"more", {{1, 7}, {1, 7}, {1, 7}, {1, 7}}, 3, true},
              {"another heartbeat", {{1, 7}, {1, 7}, {1, 7}, {1, 7}, {1, 7}, {1, 6}}, 0, false},
              {"a rank that never spoke", {{1, 0}, {1, 0}, {1, 0}}, 3, true},
              {"who looks was stopped himself", {{1, 7}, {3600, 7}}, 2, false}};
  for (const auto& [what, looks, seconds, too_long] : rows) {
    Silence silence(3, 1);
    for (const auto& [since, beat] : looks) silence.look(since, beat);
    EXPECT_EQ(silence.seconds(), seconds) << what;
    EXPECT_EQ(silence.too_long(), too_long) << what;
  }
}

}  // namespace
}  // namespace anadrome::engine

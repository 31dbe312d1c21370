// SPDX-License-Identifier: BSD-2-Clause
// What a recorder keeps beside a trace, and whose events it writes.
#include "engine/sweep/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace anadrome::engine {
namespace {

TEST(Recorder, KeepsCopiesAndWaitsApartWithoutATrace) {
  Recorder recorder;
  recorder.start(100);
  EXPECT_FALSE(recorder.on());
  recorder.waited(101, 102);
  EXPECT_EQ(recorder.after_waits(101.5), 102) << "a copy that waited for its block";
  EXPECT_EQ(recorder.after_waits(103), 103);
  recorder.start(50);
  EXPECT_EQ(recorder.after_waits(60), 60) << "what the sweep before waited for is past";
}

TEST(Recorder, WritesNotMoreThanSomeRanksOfMany) {
  for (const int ranks : {1, 64, 65, 66, 100, 127, 10000, 1 << 30}) {
    const RanksInTrace some{ranks, ranks / 3, ranks / 2 + 1};
    EXPECT_TRUE(some.has(0) && some.has(ranks - 1) && some.has(some.slowest));
    int count = 0;
    for (int rank = 0; rank < std::min(ranks, 20000); ++rank) count += some.has(rank) ? 1 : 0;
    EXPECT_LE(count, 64) << ranks;
    EXPECT_GE(count, ranks <= 20000 ? std::min(ranks, 60) : 1) << ranks;
  }
}

}  // namespace
}  // namespace anadrome::engine

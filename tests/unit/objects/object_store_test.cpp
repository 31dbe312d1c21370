// SPDX-License-Identifier: BSD-2-Clause
// Two ranks, which must not meet once their stores are open.
#include <gtest/gtest.h>

#include "object_bench.h"
#include "thread_ranks.h"

namespace anadrome::engine {
namespace {

// One has a few objects, and no memory for its fifth transfer; the other has many.
TEST(ObjectBlocks, OfTwoRanksHaveFilesOfTheirOwnInOneDirectory) {
  const store::TemporaryDirectory directory;
  ThreadRanks::run(2, [&](Ranks& ranks) {
    const int rank = ranks.rank();
    store::ObjectBench bench(std::int64_t{512} << 10, 1000, true, rank == 0 ? 5 : 0, rank,
                             directory.path());
    const auto wait_for_both = [&] {
      std::int64_t nothing = 0;
      ranks.largest(std::span(&nothing, 1));
    };
    wait_for_both();
    for (store::Objects::Key key = 0; key < (rank == 0 ? 40 : 200); ++key) bench.put(key, 16 << 10);
    EXPECT_TRUE(rank == 1 || bench.transport->was_hit());
    wait_for_both();
    for (const auto& [key, bytes] : bench.expected) EXPECT_TRUE(bench.is_right(key)) << key;
    if (rank == 0) bench.files.remove();
    wait_for_both();
    for (const auto& [key, bytes] : bench.expected)
      EXPECT_TRUE(rank == 0 || bench.is_right(key)) << key << ", and the other's files are gone";
  });
}

}  // namespace
}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// Two ranks: what they agree on at the beginning, and where they must not meet afterwards.
#include "objects/object_store.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "object_bench.h"
#include "thread_ranks.h"

namespace anadrome::engine {
namespace {

using Texts = std::array<std::string, 2>;

// What each rank is told.
Texts opened_with(const Texts& options) {
  Texts said;
  ThreadRanks::run(2, [&](Ranks& ranks) {
    ObjectStore store(ranks);
    const auto rank = static_cast<std::size_t>(ranks.rank());
    said[rank] = failure_from([&] { store.open("disk=0 " + options[rank]); }).message;
  });
  return said;
}

TEST(ObjectStore, OpensOnAllRanksOrOnNone) {
  EXPECT_EQ(opened_with({"memory=1MiB", "memory=1MiB"}), Texts());
  for (const auto& [options, why] :
       {std::pair{Texts{"memory=1MiB", "memory=1KiB"}, "a store needs a memory of"},
        {Texts{"memory=1MiB", "hue=1"}, "hue"},
        {Texts{"memory=1MiB name=a", "memory=1MiB name=b"}, "option name differs"}}) {
    const Texts said = opened_with(options);
    EXPECT_NE(said[0].find(why), std::string::npos) << said[0];
    EXPECT_EQ(said[0], said[1]);
  }
}

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

// SPDX-License-Identifier: BSD-2-Clause
#include "store/memory/pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <set>

#include "base/error.h"

namespace anadrome::store {
namespace {

TEST(Pool, HandsOutNoMoreThanItsBlocks) {
  Pool pool(4096, 5);
  std::set<std::int64_t> taken;
  for (int i = 0; i < 5; ++i) taken.insert(pool.take());
  EXPECT_EQ(taken, (std::set<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(pool.free_blocks(), 0);
  EXPECT_EQ(pool.take(), -1);
  EXPECT_EQ(pool.take(), -1);
}

TEST(Pool, HandsOutFirstWhatCameBackLast) {
  Pool pool(4096, 4);
  const std::int64_t first = pool.take(), second = pool.take();
  pool.give_back(first);
  pool.give_back(second);
  EXPECT_EQ(pool.take(), second);
  EXPECT_EQ(pool.take(), first);
}

TEST(Pool, PrefersUsedBlocksToFreshOnes) {
  Pool pool(4096, 4);
  for (int i = 0; i < 10; ++i) pool.give_back(pool.take());
  EXPECT_EQ(pool.touched_blocks(), 1);
}

TEST(Pool, FreesABlockWithItsLastHolder) {
  Pool pool(4096, 2);
  const std::int64_t block = pool.take();
  EXPECT_EQ(pool.holders(block), 1);
  pool.hold(block);
  pool.hold(block);
  EXPECT_EQ(pool.holders(block), 3);
  EXPECT_EQ(pool.free_blocks(), 1);
  for (int holder = 0; holder < 2; ++holder) {
    pool.give_back(block);
    EXPECT_EQ(pool.free_blocks(), 1);
  }
  pool.give_back(block);
  EXPECT_EQ(pool.holders(block), 0);
  EXPECT_EQ(pool.free_blocks(), 2);
}

TEST(Pool, GivesAFreedBlockOneHolderAgain) {
  Pool pool(4096, 1);
  pool.hold(pool.take());
  pool.give_back(0);
  pool.give_back(0);
  EXPECT_EQ(pool.holders(pool.take()), 1);
  pool.hold(0);
  pool.reset();  // whoever held it is gone
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.holders(0), 1);
}

TEST(Pool, KeepsBlocksApart) {
  for (const std::int64_t block_bytes : {8, 4096, 3 << 20}) {
    Pool pool(block_bytes, 3);
    for (int b = 0; b < 3; ++b) {
      std::memset(pool.address(pool.take()), 'a' + b, static_cast<std::size_t>(block_bytes));
    }
    for (int b = 0; b < 3; ++b) {
      EXPECT_EQ(pool.address(b)[0], static_cast<std::byte>('a' + b));
      EXPECT_EQ(pool.address(b)[block_bytes - 1], static_cast<std::byte>('a' + b));
    }
  }
}

TEST(Pool, AlignsBlocksOfWholePagesToPages) {
  for (const std::int64_t blocks : {1, 3, 700}) {
    Pool pool(3 * 4096, blocks);
    for (std::int64_t b = 0; b < blocks; ++b) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.address(b)) % 4096, 0u);
    }
  }
}

TEST(Pool, BeginsOnAHugePageWhenLarge) {
  for (int i = 0; i < 4; ++i) {
    Pool pool(4096 * (512 + i), 2);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.address(0)) % (2u << 20), 0u);
  }
}

TEST(Pool, KeepsItsBytesWhenMoved) {
  Pool pool(4096, 2);
  std::memset(pool.address(pool.take()), 7, 4096);
  Pool other = std::move(pool);
  EXPECT_EQ(other.address(0)[4095], std::byte{7});
  EXPECT_EQ(other.free_blocks(), 1);
  EXPECT_EQ(pool.blocks(), 0);  // NOLINT(bugprone-use-after-move): it is as new
}

TEST(Pool, MayBeEmpty) {
  Pool pool(0, 3);
  EXPECT_GE(pool.take(), 0);
  EXPECT_EQ(Pool().take(), -1);
}

TEST(Pool, RefusesWhatNoMachineHas) {
  EXPECT_THROW(Pool(std::numeric_limits<std::int64_t>::max() / 2, 4), Error);
  const Failure failure =
      failure_from([&] { Pool pool(std::int64_t{1} << 40, std::int64_t{1} << 20); });
  EXPECT_EQ(failure.status, ANADROME_ERR_MEMORY);
}

}  // namespace
}  // namespace anadrome::store

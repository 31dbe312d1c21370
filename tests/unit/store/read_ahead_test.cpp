// SPDX-License-Identifier: BSD-2-Clause
// Reading ahead upwards, as passes forward want anchors; downwards is in disk_tier_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "held_transport.h"

namespace anadrome::store {
namespace {

using Blocks = std::vector<std::int64_t>;

struct Upwards : HeldTier {
  static constexpr std::int64_t kAnchors = kDiskBlocks;

  // All anchors are on disk, and none is in memory.
  Upwards(std::int64_t depth, std::int64_t stride) : HeldTier({.pool_blocks = depth + 2}) {
    keep_and_write_up_to(kAnchors);
    tier->flush();
    for (std::int64_t anchor = kAnchors; anchor-- > 0;) tier->drop(anchor);
    held->started.clear();
    tier->set_prefetch_depth(depth);
    tier->read_ahead_by(stride);
  }
};

// Each once, although there is memory for few of them: what is passed makes room, and no other.
TEST(ReadAhead, AsksForAnchorsInRisingOrderBeforeTheyAreNeeded) {
  for (const std::int64_t depth : {1, 2, 3}) {
    for (const std::int64_t stride : {1, 2, 3}) {
      SCOPED_TRACE(std::to_string(depth) + " ahead, every " + std::to_string(stride));
      Upwards s(depth, stride);
      Blocks wanted, read;
      for (std::int64_t anchor = 0; anchor < s.kAnchors; anchor += stride) wanted.push_back(anchor);
      s.tier->prefetch_from(0);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_TRUE(s.brings_back(wanted[i], wanted[i]));
        s.tier->prefetch(wanted[i]);
        for (const std::int64_t block : s.begun()) read.push_back(block);
        const std::size_t asked = std::min(i + 1 + static_cast<std::size_t>(depth), wanted.size());
        EXPECT_EQ(read, Blocks(wanted.begin(), wanted.begin() + static_cast<int>(asked)));
      }
    }
  }
  Upwards none(2, 0);
  none.tier->prefetch_from(0);
  none.tier->prefetch(3);
  EXPECT_EQ(none.begun(), Blocks{}) << "where no anchor is read";
}

// The other way round once more, as a pass in reverse follows.
TEST(ReadAhead, TurnsRoundWithTheNextPass) {
  Upwards s(2, 1);
  s.tier->prefetch_from(0);
  EXPECT_EQ(s.begun(), (Blocks{0, 1}));
  EXPECT_TRUE(s.brings_back(1, 1));
  s.tier->read_ahead_by(-1);
  s.tier->prefetch_from(s.kAnchors - 1);
  EXPECT_EQ(s.begun(), (Blocks{s.kAnchors - 1, s.kAnchors - 2}));
}

// A codec with loss changes what is still in memory to what a read brings.
struct InMemory : HeldTier {
  InMemory() : HeldTier({.pool_blocks = 5}) {
    held->lossy = true;
    keep_and_write_up_to(5);
    tier->set_prefetch_depth(2);
  }
  bool brings_back_changed(std::int64_t number) {
    values.set(-1);
    if (tier->load(number)) return false;
    tier->restore({number, number});
    return values.are(1100 + number);
  }
  void finish_in_vain() {
    held->read_failure = {ANADROME_ERR_MEMORY, "none is left"};
    held->finish_all();
    held->read_failure = {};
  }
};

TEST(ReadAhead, ChangesWhatIsInMemoryBeforeItIsNeeded) {
  InMemory s;
  s.finish_and_settle();
  s.finish_and_settle();  // the copy of block 0
  s.tier->prefetch(4);
  EXPECT_EQ(s.begun(), (Blocks{4, 3, 2}));
  s.tier->prefetch(4);
  EXPECT_EQ(s.begun(), Blocks{}) << "once";
  s.held->finish_all();
  s.held->waited_for.clear();
  for (const std::int64_t anchor : {4, 3, 2}) {
    EXPECT_TRUE(s.brings_back_changed(anchor));
    EXPECT_TRUE(s.brings_back_changed(anchor)) << "and is changed once";
  }
  EXPECT_EQ(s.held->waited_for, Blocks{});
  EXPECT_TRUE(s.brings_back_changed(1)) << "nobody has asked for it ahead";
  EXPECT_EQ(s.held->waited_for, Blocks{1});
  EXPECT_TRUE(s.brings_back(0, 0)) << "x_0 stays as it is";
  EXPECT_EQ(s.tier->notes().states_read(), 0);
}

TEST(ReadAhead, ChangesWhatWasBeingWrittenOnceItIsThereUnlessItWasDropped) {
  for (const bool dropped : {false, true}) {
    InMemory s;
    s.tier->prefetch(4);
    EXPECT_EQ(s.begun(), Blocks{});
    if (dropped) s.tier->drop(4);
    s.held->finish_all();
    s.tier->prefetch(4);
    EXPECT_EQ(s.begun(), dropped ? Blocks({3, 2}) : Blocks({4, 3, 2}));
    EXPECT_TRUE(s.brings_back_changed(3));
    EXPECT_TRUE(s.brings_back_changed(4)) << "in memory, or on disk";
  }
}

TEST(ReadAhead, WhatCouldNotBeChangedIsRead) {
  InMemory s;
  s.finish_and_settle();
  s.tier->prefetch(4);
  s.finish_in_vain();
  EXPECT_TRUE(s.brings_back_changed(3));
  EXPECT_EQ(s.tier->notes().states_read(), 1);
  // The one that is restored just then.
  s.tier->prefetch(3);
  EXPECT_FALSE(s.tier->load(2));
  s.tier->prefetch(2);
  s.finish_in_vain();
  s.values.set(-1);
  s.tier->restore({2, 2});
  EXPECT_TRUE(s.values.are(1102));
}

}  // namespace
}  // namespace anadrome::store

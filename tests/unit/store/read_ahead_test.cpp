// SPDX-License-Identifier: BSD-2-Clause
// Reading ahead upwards, as passes forward want anchors; downwards is in disk_tier_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "held_transport.h"
#include "store/tiers/disk_tier.h"
#include "tier_bench.h"

namespace anadrome::store {
namespace {

struct Upwards : TierBench {
  static constexpr std::int64_t kAnchors = kDiskBlocks;

  // All anchors are on disk, and none is in memory.
  Upwards(std::int64_t depth, std::int64_t stride)
      : TierBench({.pool_blocks = depth + 2},
                  [](const BlockLayout& made) { return std::make_unique<HeldTransport>(made); }) {
    for (std::int64_t anchor = 0; anchor < kAnchors; ++anchor) keep_and_write(anchor, anchor);
    tier->flush();
    for (std::int64_t anchor = kAnchors; anchor-- > 0;) tier->drop(anchor);
    held->started.clear();
    tier->set_prefetch_depth(depth);
    tier->read_ahead_by(stride);
  }

  std::vector<std::int64_t> read() const {
    std::vector<std::int64_t> all;
    for (const auto& [write, block] : held->started) {
      EXPECT_FALSE(write);
      all.push_back(block);
    }
    return all;
  }

  HeldTransport* held = static_cast<HeldTransport*>(transport.get());
};

// Each once, although there is memory for few of them: what is passed makes room, and no other.
TEST(ReadAhead, AsksForAnchorsInRisingOrderBeforeTheyAreNeeded) {
  for (const std::int64_t depth : {1, 2, 3}) {
    for (const std::int64_t stride : {1, 2, 3}) {
      SCOPED_TRACE(std::to_string(depth) + " ahead, every " + std::to_string(stride));
      Upwards s(depth, stride);
      std::vector<std::int64_t> wanted;
      for (std::int64_t anchor = 0; anchor < s.kAnchors; anchor += stride) wanted.push_back(anchor);
      s.tier->prefetch_from(0);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_TRUE(s.brings_back(wanted[i], wanted[i]));
        s.tier->prefetch(wanted[i]);
        const std::size_t asked = std::min(i + 1 + static_cast<std::size_t>(depth), wanted.size());
        EXPECT_EQ(s.read(), std::vector(wanted.begin(), wanted.begin() + static_cast<int>(asked)));
      }
    }
  }
}

// The other way round once more, as a pass in reverse follows.
TEST(ReadAhead, TurnsRoundWithTheNextPass) {
  Upwards s(2, 1);
  s.tier->prefetch_from(0);
  EXPECT_EQ(s.read(), (std::vector<std::int64_t>{0, 1}));
  EXPECT_TRUE(s.brings_back(1, 1));
  s.tier->read_ahead_by(-1);
  s.held->started.clear();
  s.tier->prefetch_from(s.kAnchors - 1);
  EXPECT_EQ(s.read(), (std::vector<std::int64_t>{s.kAnchors - 1, s.kAnchors - 2}));
}

// A codec with loss changes what is still in memory to what a read brings.
struct InMemory : TierBench {
  static constexpr std::int64_t kAnchors = 5;
  InMemory()
      : TierBench({.pool_blocks = kAnchors},
                  [](const BlockLayout& made) { return std::make_unique<HeldTransport>(made); }) {
    held->lossy = true;
    for (std::int64_t anchor = 0; anchor < kAnchors; ++anchor) keep_and_write(anchor, anchor);
    tier->set_prefetch_depth(2);
  }
  bool brings_back_changed(std::int64_t number) {
    values.set(-1);
    if (tier->load(number)) return false;
    tier->restore({number, number});
    return values.are(1100 + number);
  }
  std::vector<std::int64_t> begun() {
    std::vector<std::int64_t> all;
    for (const auto& [write, block] : std::exchange(held->started, {})) {
      if (!write) all.push_back(block);
    }
    return all;
  }
  HeldTransport* held = static_cast<HeldTransport*>(transport.get());
};

TEST(ReadAhead, ChangesWhatIsInMemoryBeforeItIsNeeded) {
  InMemory s;
  s.held->finish_all();
  s.tier->settle_finished();
  s.held->finish_all();  // the copy of block 0
  s.tier->settle_finished();
  s.tier->prefetch(4);
  EXPECT_EQ(s.begun(), (std::vector<std::int64_t>{4, 3, 2}));
  s.tier->prefetch(4);
  EXPECT_EQ(s.begun(), std::vector<std::int64_t>{}) << "once";
  s.held->finish_all();
  s.held->waited_for.clear();
  for (const std::int64_t anchor : {4, 3, 2}) {
    EXPECT_TRUE(s.brings_back_changed(anchor));
    EXPECT_TRUE(s.brings_back_changed(anchor)) << "and is changed once";
  }
  EXPECT_EQ(s.held->waited_for, std::vector<std::int64_t>{});
  EXPECT_TRUE(s.brings_back_changed(1)) << "nobody has asked for it ahead";
  EXPECT_EQ(s.held->waited_for, std::vector<std::int64_t>{1});
  EXPECT_TRUE(s.brings_back(0, 0)) << "x_0 stays as it is";
  EXPECT_EQ(s.tier->notes().states_read(), 0);
}

TEST(ReadAhead, ChangesWhatWasBeingWrittenOnceItIsThere) {
  InMemory s;
  s.tier->prefetch(4);
  EXPECT_EQ(s.begun(), std::vector<std::int64_t>{});
  s.held->finish_all();
  s.tier->prefetch(4);
  EXPECT_EQ(s.begun(), (std::vector<std::int64_t>{4, 3, 2}));
  EXPECT_TRUE(s.brings_back_changed(4));
}

TEST(ReadAhead, LeavesWhatWasDroppedWhileItWasWritten) {
  InMemory s;
  s.tier->drop(4);
  s.held->finish_all();
  s.tier->prefetch(4);
  EXPECT_EQ(s.begun(), (std::vector<std::int64_t>{3, 2}));
  EXPECT_TRUE(s.brings_back_changed(3));
  EXPECT_TRUE(s.brings_back_changed(4)) << "it is on disk";
}

TEST(ReadAhead, WhatCouldNotBeChangedIsRead) {
  InMemory s;
  s.held->finish_all();
  s.tier->settle_finished();
  s.tier->prefetch(4);
  s.held->read_failure = {ANADROME_ERR_MEMORY, "none is left"};
  s.held->finish_all();
  s.held->read_failure = {};
  EXPECT_TRUE(s.brings_back_changed(3));
  EXPECT_EQ(s.tier->notes().states_read(), 1);
  // The one that is restored just then.
  s.tier->prefetch(3);
  EXPECT_FALSE(s.tier->load(2));
  s.tier->prefetch(2);
  s.held->read_failure = {ANADROME_ERR_MEMORY, "none is left"};
  s.held->finish_all();
  s.held->read_failure = {};
  s.values.set(-1);
  s.tier->restore({2, 2});
  EXPECT_TRUE(s.values.are(1102));
}

TEST(ReadAhead, IsLeftOutWhereNoAnchorIsRead) {
  Upwards s(2, 0);
  s.tier->prefetch_from(0);
  s.tier->prefetch(3);
  EXPECT_EQ(s.read(), std::vector<std::int64_t>{});
}

}  // namespace
}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/live_state.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "has_part.h"
#include "packed_fields.h"
#include "store/tiers/block_keeper.h"

namespace anadrome::engine {
namespace {

using store::BlockKeeper;
using store::BlockLayout;
using store::Field;
using store::Packed;
using store::Pool;

constexpr std::int64_t kLarge = std::int64_t{1} << 20;

Field exchanged(const char* name, std::int64_t count) {
  return {name, ANADROME_ROLE_STATE, ANADROME_BYTE, count, true, nullptr, {}};
}

Field plain(const char* name, std::vector<unsigned char>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {name, ANADROME_ROLE_STATE, ANADROME_BYTE, count, false, values.data(), {}};
}

// A live state over a pool of a few blocks of one state each or of more.
struct LiveInPool {
  LiveInPool(std::vector<Field> fields, std::int64_t states_per_block, std::int64_t count)
      : layout({states_per_block, false}, fields),
        pool(layout.block_bytes(), count),
        live(layout, std::move(fields), blocks) {}

  // A step to a state whose exchanged field 0 has all bytes `value`.
  void step_to(int value) {
    live.make_room_for_step();
    std::memset(live.then(0), value, static_cast<std::size_t>(layout.parts()[0].bytes));
    live.step_done();
  }
  // The first and the last byte of exchanged field 0, which must be the same.
  int value() const {
    const auto* now = static_cast<const unsigned char*>(live.now(0));
    const int last = now[layout.parts()[0].bytes - 1];
    return now[0] == last ? last : -1;
  }
  const std::byte* at(std::int64_t block, std::int64_t index = 0, std::size_t field = 0) const {
    return layout.address(pool.address(block), index, field);
  }
  std::int64_t block_to_keep_in() {
    const std::int64_t shared = live.share_block();
    return shared >= 0 ? shared : pool.take();
  }
  std::int64_t keep() {
    const std::int64_t block = block_to_keep_in();
    live.keep(block, 0);
    return block;
  }

  BlockLayout layout;
  Pool pool;
  BlockKeeper blocks{pool};
  LiveState live;
};

// ---- blocks that are handed over ----

TEST(LiveState, HasNoAddressesBeforeThereIsRoomAndAStep) {
  LiveInPool s({exchanged("u", kLarge)}, 1, 3);
  EXPECT_TRUE(s.live.exchanged());
  EXPECT_EQ(s.live.now(0), nullptr);
  EXPECT_EQ(s.live.then(0), nullptr);
  s.live.make_room_for_step();
  EXPECT_EQ(s.live.now(0), nullptr);
  EXPECT_NE(s.live.then(0), nullptr);
  const void* then = s.live.then(0);
  s.live.step_done();
  EXPECT_EQ(s.live.now(0), then);
  EXPECT_EQ(s.live.then(0), nullptr);
}

TEST(LiveState, IsKeptByHandingItsBlockOver) {
  LiveInPool s({exchanged("u", kLarge)}, 1, 3);
  s.step_to(1);
  const void* now = s.live.now(0);
  const std::int64_t kept = s.keep();
  EXPECT_EQ(s.at(kept), now);
  EXPECT_EQ(s.live.now(0), now);
  EXPECT_EQ(s.pool.holders(kept), 2);
  EXPECT_EQ(s.pool.free_blocks(), 2);
}

TEST(LiveState, IsRestoredByPointingAtTheKeptBlock) {
  LiveInPool s({exchanged("u", kLarge)}, 1, 3);
  s.step_to(1);
  const std::int64_t kept = s.keep();
  s.step_to(2);
  for (int again = 0; again < 2; ++again) {
    s.live.restore(kept, 0);
    EXPECT_EQ(s.live.now(0), s.at(kept));
    EXPECT_EQ(s.value(), 1);
    EXPECT_EQ(s.pool.holders(kept), 2);
    EXPECT_EQ(s.pool.free_blocks(), 2);  // the state it left has no block any more
  }
}

TEST(LiveState, IsCopiedIfItsBlockIsKeptAlready) {
  LiveInPool s({exchanged("u", kLarge)}, 1, 4);
  s.step_to(7);
  const std::int64_t first = s.keep(), second = s.keep();
  EXPECT_NE(first, second);
  EXPECT_EQ(s.live.now(0), s.at(first));
  EXPECT_EQ(std::memcmp(s.at(first), s.at(second), static_cast<std::size_t>(kLarge)), 0);
  EXPECT_EQ(s.pool.holders(second), 1);
  s.live.restore(second, 0);
  EXPECT_EQ(s.live.now(0), s.at(second));
  EXPECT_EQ(s.pool.holders(first), 1);
}

TEST(LiveState, SharesTheBlockItIsInOnce) {
  LiveInPool s({exchanged("u", kLarge)}, 1, 4);
  EXPECT_EQ(s.live.share_block(), -1) << "there is no state yet";
  s.step_to(7);
  const std::int64_t shared = s.live.share_block();
  EXPECT_EQ(s.live.now(0), s.at(shared));
  EXPECT_EQ(s.live.share_block(), -1) << "somebody keeps it";
}

TEST(LiveState, ReusesNoHeldBlockInALongWalk) {
  LiveInPool s({exchanged("u", 16)}, 1, 6);
  std::array<std::int64_t, 4> slots = {-1, -1, -1, -1};
  std::array<int, 4> values = {};
  unsigned random = 1;
  const auto below = [&](unsigned end) {
    random = random * 1664525U + 1013904223U;
    return (random >> 8) % end;
  };
  s.step_to(1);
  int value = 1;
  for (int i = 0; i < 20000; ++i) {
    const std::size_t slot = below(4);
    switch (below(3)) {
      case 0:
        value = static_cast<int>(below(256));
        s.step_to(value);
        break;
      case 1:
        if (slots[slot] >= 0) s.pool.give_back(slots[slot]);
        slots[slot] = s.keep();
        values[slot] = value;
        break;
      default:
        if (slots[slot] < 0) break;
        s.live.restore(slots[slot], 0);
        value = values[slot];
    }
    ASSERT_EQ(s.value(), value);
    for (std::size_t k = 0; k < slots.size(); ++k) {
      if (slots[k] < 0) continue;
      ASSERT_EQ(s.at(slots[k])[15], static_cast<std::byte>(values[k]));
    }
  }
}

// ---- fields of several kinds ----

class MixedFields : public testing::TestWithParam<std::int64_t> {
 protected:
  std::vector<unsigned char> array_ = std::vector<unsigned char>(5);
  Packed packed_;
};

TEST_P(MixedFields, AreKeptAndRestoredTogether) {
  LiveInPool s({exchanged("u", 100), plain("t", array_), exchanged("v", 12), packed_.field("p"),
                exchanged("nothing", 0)},
               GetParam(), 8);
  const auto set = [&](int value) {
    s.live.make_room_for_step();
    std::memset(s.live.then(0), value, 100);
    std::memset(s.live.then(2), value + 100, 12);
    s.live.step_done();
    array_.assign(5, static_cast<unsigned char>(value + 50));
    packed_.value = static_cast<unsigned char>(value + 70);
  };
  const auto expect = [&](int value) {
    EXPECT_EQ(s.value(), value);
    EXPECT_EQ(static_cast<const unsigned char*>(s.live.now(2))[11], value + 100);
    EXPECT_EQ(array_, std::vector<unsigned char>(5, static_cast<unsigned char>(value + 50)));
    EXPECT_EQ(packed_.value, value + 70);
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> places;  // block, index
  for (int value = 0; value < 4; ++value) {
    const std::int64_t index = value % GetParam();
    set(value);
    const std::int64_t block = index == 0 ? s.block_to_keep_in() : places.back().first;
    s.live.keep(block, index);
    places.emplace_back(block, index);
  }
  set(30);
  for (const int value : {3, 0, 2, 1, 1, 3}) {
    const auto& [block, index] = places[static_cast<std::size_t>(value)];
    s.live.restore(block, index);
    expect(value);
  }
}

TEST_P(MixedFields, AreAllMovedThoughACallbackFails) {
  Packed other;
  LiveInPool s({packed_.field("p"), exchanged("u", 8), packed_.field("p2"), plain("t", array_),
                other.field("q")},
               GetParam(), 4);
  s.live.make_room_for_step();
  std::memset(s.live.then(1), 9, 8);
  s.live.step_done();
  packed_.returns = 5;
  array_.assign(5, 33);
  const std::int64_t block = s.block_to_keep_in();
  const Failure failure = failure_from([&] { s.live.keep(block, 0); });
  EXPECT_EQ(failure.status, ANADROME_ERR_PEER);
  EXPECT_TRUE(test::has_part(failure.message, "pack callback of field 'p2' returned 5"));
  EXPECT_EQ(other.calls, 1);
  array_.assign(5, 0);
  EXPECT_THROW(s.live.restore(block, 0), Error);
  EXPECT_EQ(other.calls, 2);
  EXPECT_EQ(array_[4], 33);
  EXPECT_EQ(*static_cast<const unsigned char*>(s.live.now(1)), 9);
}

INSTANTIATE_TEST_SUITE_P(StatesPerBlock, MixedFields, testing::Values(1, 2, 4),
                         testing::PrintToStringParamName());

// ---- small states ----

TEST(LiveState, SwapsTwoBuffersIfStatesShareBlocks) {
  LiveInPool s({exchanged("u", 24)}, 10, 3);
  s.live.make_room_for_step();
  EXPECT_EQ(s.pool.free_blocks(), 3);
  const void* now = s.live.now(0);
  const void* then = s.live.then(0);
  EXPECT_NE(now, then);
  s.live.step_done();
  EXPECT_EQ(s.live.now(0), then);
  EXPECT_EQ(s.live.then(0), now);
}

TEST(LiveState, HasBuffersThatDoNotOverlapAndBeginOnACacheLine) {
  LiveInPool s({exchanged("u", 24), exchanged("v", 1), exchanged("w", 64), exchanged("x", 65)}, 10,
               1);
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges;
  for (std::size_t f = 0; f < 4; ++f) {
    for (const void* place : {s.live.now(f), static_cast<const void*>(s.live.then(f))}) {
      const auto begin = reinterpret_cast<std::uintptr_t>(place);
      EXPECT_EQ(begin % 64, 0U);
      ranges.emplace_back(begin, begin + static_cast<std::uintptr_t>(s.layout.parts()[f].bytes));
    }
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      EXPECT_TRUE(ranges[i].second <= ranges[k].first || ranges[k].second <= ranges[i].first);
    }
  }
}

TEST(LiveState, CountsTheBlocksAndTheBytesItTakes) {
  std::vector<unsigned char> array(5);
  const std::vector<Field> fields = {exchanged("u", 65), plain("t", array), exchanged("v", 1)};
  const BlockLayout alone({1, false}, fields), shared({7, false}, fields);
  EXPECT_EQ(LiveState::live_blocks(alone, fields), 2);
  EXPECT_EQ(LiveState::buffer_bytes(alone, fields), 0);
  EXPECT_EQ(LiveState::live_blocks(shared, fields), 0);
  EXPECT_EQ(LiveState::buffer_bytes(shared, fields), 2 * 128 + 2 * 64 + 64);

  const std::vector<Field> copied = {plain("t", array)};
  EXPECT_EQ(LiveState::live_blocks(alone, copied), 0);
  EXPECT_EQ(LiveState::buffer_bytes(shared, copied), 0);
}

// ---- fields of changing size ----

}  // namespace
}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/live_state.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
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

TEST(LiveState, IsKeptAndRestoredByHandingItsBlockOver) {
  LiveInPool s({exchanged("u", kLarge)}, 1, 4);
  EXPECT_TRUE(s.live.exchanged());
  EXPECT_EQ(s.live.then(0), nullptr) << "there is no room yet";
  EXPECT_EQ(s.live.share_block(), -1) << "there is no state yet";
  s.live.make_room_for_step();
  EXPECT_EQ(s.live.now(0), nullptr);
  const void* const then = s.live.then(0);
  std::memset(s.live.then(0), 1, static_cast<std::size_t>(kLarge));
  s.live.step_done();
  EXPECT_EQ(s.live.now(0), then);
  EXPECT_EQ(s.live.then(0), nullptr);

  const std::int64_t kept = s.keep();
  EXPECT_EQ(s.at(kept), then);
  EXPECT_EQ(s.live.now(0), then);
  EXPECT_EQ(s.pool.holders(kept), 2);
  EXPECT_EQ(s.pool.free_blocks(), 3);
  EXPECT_EQ(s.live.share_block(), -1) << "somebody keeps it";
  s.step_to(2);
  for (int again = 0; again < 2; ++again) {
    s.live.restore(kept, 0);
    EXPECT_EQ(s.live.now(0), s.at(kept));
    EXPECT_EQ(s.value(), 1);
    EXPECT_EQ(s.pool.holders(kept), 2);
    EXPECT_EQ(s.pool.free_blocks(), 3) << "the state it left has no block any more";
  }

  const std::int64_t copy = s.keep();
  EXPECT_NE(copy, kept);
  EXPECT_EQ(s.live.now(0), s.at(kept));
  EXPECT_EQ(std::memcmp(s.at(kept), s.at(copy), static_cast<std::size_t>(kLarge)), 0);
  EXPECT_EQ(s.pool.holders(copy), 1);
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

TEST(MixedFields, AreAllMovedThoughACallbackFails) {
  for (const std::int64_t states_per_block : {1, 2, 4}) {
    std::vector<unsigned char> array(5, 33);
    Packed packed, other;
    LiveInPool s({packed.field("p"), exchanged("u", 8), packed.field("p2"), plain("t", array),
                  other.field("q")},
                 states_per_block, 4);
    s.live.make_room_for_step();
    std::memset(s.live.then(1), 9, 8);
    s.live.step_done();
    packed.returns = 5;
    const std::int64_t block = s.block_to_keep_in();
    const Failure failure = failure_from([&] { s.live.keep(block, 0); });
    EXPECT_EQ(failure.status, ANADROME_ERR_PEER);
    EXPECT_TRUE(test::has_part(failure.message, "pack callback of field 'p2' returned 5"));
    EXPECT_EQ(other.calls, 1);
    array.assign(5, 0);
    EXPECT_THROW(s.live.restore(block, 0), Error);
    EXPECT_EQ(other.calls, 2);
    EXPECT_EQ(array[4], 33);
    EXPECT_EQ(*static_cast<const unsigned char*>(s.live.now(1)), 9);
  }
}

TEST(LiveState, SwapsBuffersThatBeginOnACacheLineIfStatesShareBlocks) {
  LiveInPool s({exchanged("u", 24), exchanged("v", 1), exchanged("w", 65)}, 10, 1);
  s.live.make_room_for_step();
  EXPECT_EQ(s.pool.free_blocks(), 1);
  const void* const now = s.live.now(0);
  const void* const then = s.live.then(0);
  s.live.step_done();
  EXPECT_EQ(s.live.now(0), then);
  EXPECT_EQ(s.live.then(0), now);
  for (std::size_t f = 0; f < 3; ++f) {
    for (const void* place : {s.live.now(f), static_cast<const void*>(s.live.then(f))})
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(place) % 64, 0U);
  }
}

}  // namespace
}  // namespace anadrome::engine

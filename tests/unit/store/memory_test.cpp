// SPDX-License-Identifier: BSD-2-Clause
// Fields, how states lie in blocks, and the blocks themselves.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "base/error.h"
#include "has_part.h"
#include "packed_fields.h"
#include "store/memory/block_layout.h"
#include "store/memory/field_copy.h"
#include "store/memory/field_table.h"
#include "store/memory/meter.h"
#include "store/memory/pool.h"

namespace anadrome::store {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Field typed_field(anadrome_type type, std::int64_t count, const char* name = "u",
                  anadrome_role role = ANADROME_ROLE_STATE) {
  return {name, role, type, count, false, nullptr, {}};
}

// ---- the pool ----

TEST(Pool, HandsOutNoMoreThanItsBlocksAndWhatCameBackLastFirst) {
  Pool pool(4096, 5);
  std::set<std::int64_t> taken;
  for (int i = 0; i < 5; ++i) taken.insert(pool.take());
  EXPECT_EQ(taken, (std::set<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(pool.free_blocks(), 0);
  EXPECT_EQ(pool.take(), -1);
  EXPECT_EQ(pool.take(), -1);
  pool.give_back(1);
  pool.give_back(3);
  EXPECT_EQ(pool.take(), 3);
  EXPECT_EQ(pool.take(), 1);
  Pool fresh(4096, 4);
  for (int i = 0; i < 10; ++i) fresh.give_back(fresh.take());
  EXPECT_EQ(fresh.touched_blocks(), 1);
}

TEST(Pool, FreesABlockWithItsLastHolder) {
  Pool pool(4096, 2);
  const std::int64_t block = pool.take();
  for (std::int64_t holders = 1; holders < 3; ++holders) {
    EXPECT_EQ(pool.holders(block), holders);
    pool.hold(block);
  }
  for (std::int64_t holders = 3; holders > 0; --holders) {
    EXPECT_EQ(pool.holders(block), holders);
    EXPECT_EQ(pool.free_blocks(), 1);
    pool.give_back(block);
  }
  EXPECT_EQ(pool.free_blocks(), 2);
  EXPECT_EQ(pool.holders(block), 0);
  EXPECT_EQ(pool.take(), block);
  EXPECT_EQ(pool.holders(block), 1);
  pool.hold(block);
  pool.reset();  // whoever held it is gone
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.holders(0), 1);
}

TEST(Pool, KeepsBlocksApartWhereverItIsMoved) {
  for (const std::int64_t block_bytes : {8, 4096, 3 << 20}) {
    Pool first(block_bytes, 4);
    for (int b = 0; b < 3; ++b) {
      std::memset(first.address(first.take()), 'a' + b, static_cast<std::size_t>(block_bytes));
    }
    Pool pool = std::move(first);
    for (int b = 0; b < 3; ++b) {
      EXPECT_EQ(pool.address(b)[0], static_cast<std::byte>('a' + b));
      EXPECT_EQ(pool.address(b)[block_bytes - 1], static_cast<std::byte>('a' + b));
    }
    EXPECT_EQ(pool.free_blocks(), 1);
    EXPECT_EQ(first.blocks(), 0);  // NOLINT(bugprone-use-after-move): it is as new
  }
}

TEST(Pool, AlignsBlocksToPagesAndBeginsOnAHugePageWhenLarge) {
  const auto address = [](const Pool& pool, std::int64_t block) {
    return reinterpret_cast<std::uintptr_t>(pool.address(block));
  };
  for (const std::int64_t blocks : {1, 3, 700}) {
    const Pool pool(3 * 4096, blocks);
    for (std::int64_t b = 0; b < blocks; ++b) EXPECT_EQ(address(pool, b) % 4096, 0u);
  }
  for (int i = 0; i < 4; ++i) EXPECT_EQ(address(Pool(4096 * (512 + i), 2), 0) % (2u << 20), 0u);
}

TEST(Pool, MayBeEmptyAndIsNoLargerThanAMachine) {
  EXPECT_GE(Pool(0, 3).take(), 0);
  EXPECT_EQ(Pool().take(), -1);
  EXPECT_THROW(Pool(kMost / 2, 4), Error);
  const Failure failure = failure_from([] { Pool(std::int64_t{1} << 40, std::int64_t{1} << 20); });
  EXPECT_EQ(failure.status, ANADROME_ERR_MEMORY);
}

// ---- blocks ----

std::int64_t state_bytes(const std::vector<Field>& fields) {
  return std::accumulate(fields.begin(), fields.end(), std::int64_t{0},
                         [](std::int64_t sum, const Field& f) { return sum + f.bytes(); });
}

// A number below `end`.
std::int64_t below(std::mt19937& random, std::int64_t end) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
}

// One to four fields of any type, from nothing to a few MiB.
std::vector<Field> random_fields(std::mt19937& random) {
  constexpr anadrome_type kTypes[] = {ANADROME_FLOAT32,    ANADROME_FLOAT64, ANADROME_COMPLEX64,
                                      ANADROME_COMPLEX128, ANADROME_INT32,   ANADROME_INT64,
                                      ANADROME_BYTE};
  std::vector<Field> fields;
  for (std::int64_t many = 1 + below(random, 4); many > 0; --many) {
    const std::int64_t count = below(random, 1000) << below(random, 10);
    fields.push_back(typed_field(kTypes[below(random, 7)], count));
  }
  return fields;
}

TEST(ElementBytes, AreThoseOfTheType) {
  using Row = std::pair<anadrome_type, int>;
  for (const auto& [type, bytes] :
       {Row(ANADROME_FLOAT32, 4), Row(ANADROME_FLOAT64, 8), Row(ANADROME_COMPLEX64, 8),
        Row(ANADROME_COMPLEX128, 16), Row(ANADROME_INT32, 4), Row(ANADROME_INT64, 8),
        Row(ANADROME_BYTE, 1), Row(static_cast<anadrome_type>(7), 0)}) {
    EXPECT_EQ(element_bytes(type), bytes) << type;
  }
}

TEST(BlockShape, GivesLargeStatesABlockOfTheirOwnAndPutsSmallOnesTogether) {
  const BlockShape large = choose_block_shape({8 * kMiB, 1, true}, 1024 * kMiB);
  EXPECT_EQ(large.states, 1);
  EXPECT_TRUE(large.paged);
  const BlockShape small = choose_block_shape({24, 1, true}, 1024 * kMiB);
  EXPECT_FALSE(small.paged);
  EXPECT_GE(small.states * 24, 4 * kMiB);
  EXPECT_LE(small.states * 24, 5 * kMiB);
  for (const bool disk : {false, true}) {
    EXPECT_EQ(choose_block_shape({1000, 2, disk}, 0).states, 1);
    EXPECT_EQ(choose_block_shape({100 * kMiB, 2, disk}, kMiB).states, 1);
    EXPECT_GE(choose_block_shape({0, 1, disk}, kMiB).states, 1);
  }
}

// Sixteen blocks fit into the memory, or four of tiny states, unless a state fills one; for disk
// they are made of whole pages, and states lie side by side without overlap.
TEST(BlockLayout, FitsIntoTheMemoryInWholePagesWithoutOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<Field> fields = random_fields(random);
    const std::int64_t memory = (1 + below(random, 64)) << (10 + below(random, 20));
    for (const bool disk : {false, true}) {
      const BlockShape shape = choose_block_shape(
          {state_bytes(fields), static_cast<std::int64_t>(fields.size()), disk}, memory);
      const BlockLayout layout(shape, fields);
      const bool tiny = disk && !shape.paged && layout.state_bytes() <= kPage / 2;
      EXPECT_TRUE(shape.states == 1 || (tiny ? 4 : 16) * layout.block_bytes() <= memory);
      const std::int64_t unit = disk ? kPage : 1;
      std::int64_t end = 0;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const BlockLayout::Part& part = layout.parts()[f];
        EXPECT_EQ(part.bytes, fields[f].bytes());
        EXPECT_GE(part.stride, part.bytes);
        EXPECT_EQ(part.stride % 8, 0);
        EXPECT_EQ(part.stride % element_bytes(fields[f].type), 0);
        EXPECT_EQ(part.offset, end);
        EXPECT_TRUE(part.offset % unit == 0 && layout.part_bytes(f) % unit == 0);
        end += layout.part_bytes(f);
        std::byte* const begin = nullptr;
        const auto last = layout.address(begin, layout.states() - 1, f) - begin;
        EXPECT_EQ(last + part.stride, end);
      }
      EXPECT_EQ(layout.block_bytes(), end);
      EXPECT_EQ(layout.state_bytes(), state_bytes(fields));
    }
  }
}

TEST(BlockLayout, PadsOnlyToWordsWhereStatesArePackedAndGivesNothingNoBytes) {
  const std::vector<Field> fields = {typed_field(ANADROME_BYTE, 13),
                                     typed_field(ANADROME_FLOAT64, 3)};
  const BlockLayout layout({512, false}, fields);
  EXPECT_EQ(layout.parts()[0].stride, 16);
  EXPECT_EQ(layout.parts()[1].stride, 24);
  EXPECT_EQ(layout.parts()[1].offset, 512 * 16);
  EXPECT_EQ(layout.block_bytes(), 512 * 40);
  EXPECT_EQ(layout.state_bytes(), 37);
  const std::vector<Field> empty = {typed_field(ANADROME_FLOAT64, 0),
                                    typed_field(ANADROME_FLOAT32, 1)};
  EXPECT_EQ(BlockLayout({1, true}, empty).part_bytes(0), 0);
  EXPECT_EQ(BlockLayout({1, true}, empty).block_bytes(), kPage);
}

TEST(BlockLayout, RefusesASizeThatOverflows) {
  const std::vector<Field> one = {typed_field(ANADROME_BYTE, std::int64_t{1} << 61)};
  EXPECT_THROW(BlockLayout({8, true}, one), Error);
  const std::vector<Field> two(2, typed_field(ANADROME_BYTE, std::int64_t{1} << 62));
  EXPECT_THROW(BlockLayout({1, true}, two), Error);
  EXPECT_THROW(choose_block_shape({kMost - 7, 1, true}, kMiB), Error);
  EXPECT_THROW(typed_field(ANADROME_COMPLEX128, std::int64_t{1} << 60).bytes(), Error);
}

// ---- fields ----

Field plain_field(const char* name, std::vector<unsigned char>& values) {
  Field field = typed_field(ANADROME_BYTE, static_cast<std::int64_t>(values.size()), name);
  field.values = values.data();
  return field;
}

// Three fields: an array, one that changes its size, and a packed byte.
struct Fields {
  std::vector<unsigned char> array = {1, 2, 3};
  Varying varying;
  Packed packed;
  std::vector<Field> all = {varying.field("mesh", 40), plain_field("t", array), packed.field("p")};
  std::vector<std::byte> memory = std::vector<std::byte>(4 * kPage);
};

TEST(FieldCopy, BringsAnArrayBackAndCallsTheMoverOfOthers) {
  Fields s;
  EXPECT_FALSE(copy_out(s.all[1], s.memory.data(), 3));
  s.array = {9, 9, 9};
  EXPECT_FALSE(copy_in(s.all[1], s.memory.data(), 3));
  EXPECT_EQ(s.array, (std::vector<unsigned char>{1, 2, 3}));
  s.packed.value = 5;
  EXPECT_FALSE(copy_out(s.all[2], s.memory.data(), 1));
  EXPECT_EQ(s.memory[0], std::byte{0xfa});
  s.packed.value = 0;
  EXPECT_FALSE(copy_in(s.all[2], s.memory.data(), 1));
  EXPECT_EQ(s.packed.value, 5);
}

TEST(FieldCopy, CallsForOthersWhatMayBeCollective) {
  Fields s;
  s.varying.bytes = 7;
  s.packed.value = 5;
  const std::int64_t moves = moves_of(s.all);
  EXPECT_FALSE(move_for_others(s.all, Way::kOut));
  EXPECT_EQ(s.packed.calls, 1);
  EXPECT_EQ(moves_of(s.all), moves + 1);  // a field of changing size must not communicate
  s.packed.returns = 4;
  EXPECT_EQ(move_for_others(s.all, Way::kIn).status, ANADROME_ERR_PEER);
  EXPECT_EQ(s.packed.calls, 2);
  EXPECT_EQ(s.array, (std::vector<unsigned char>{1, 2, 3}));
}

TEST(FieldCopy, CopiesAllFieldsWhateverACallbackReturns) {
  Packed first, last;
  std::vector<unsigned char> between = {1, 2};
  const std::vector<Field> fields = {first.field("first"), plain_field("between", between),
                                     last.field("last")};
  std::vector<std::byte> memory(4);
  first.value = 5;
  last.value = 6;
  EXPECT_FALSE(copy_all_out(fields, memory.data()));
  first.value = last.value = 0;
  between = {0, 0};
  first.returns = 4;
  const Failure failure = copy_all_in(fields, memory.data());
  EXPECT_EQ(failure.status, ANADROME_ERR_PEER);
  EXPECT_EQ(failure.message, "the unpack callback of field 'first' returned 4");
  EXPECT_EQ(last.value, 6) << "on another rank the first has not failed";
  EXPECT_EQ(between, (std::vector<unsigned char>{1, 2}));
  last.value = 7;
  EXPECT_EQ(copy_all_out(fields, memory.data()).status, ANADROME_ERR_PEER);
  EXPECT_EQ(memory[3], std::byte{0xff - 7});
}

TEST(FieldCopy, PutsTheLengthOfAFieldBeforeItsBytesAndRefusesWhatCannotBe) {
  Fields s;
  EXPECT_TRUE(varies(s.all[0]));
  EXPECT_FALSE(varies(s.all[2]));
  s.varying.bytes = 17;
  EXPECT_FALSE(copy_out(s.all[0], s.memory.data(), 48));
  std::uint64_t length = 0;
  std::memcpy(&length, s.memory.data(), sizeof length);
  EXPECT_EQ(length, 17u);
  EXPECT_FALSE(copy_in(s.all[0], s.memory.data(), 48));
  EXPECT_EQ(s.varying.unpacked, 17u);
  EXPECT_TRUE(s.varying.right);
  s.varying.bytes = length = 41;
  EXPECT_EQ(copy_out(s.all[0], s.memory.data(), 48).status, ANADROME_ERR_ARGUMENT);
  std::memcpy(s.memory.data(), &length, sizeof length);
  EXPECT_EQ(copy_in(s.all[0], s.memory.data(), 48).status, ANADROME_ERR_CORRUPT);
}

TEST(Piece, TakesWhatItsFieldsTakeNow) {
  Fields s;
  s.varying.bytes = 17;
  s.packed.value = 8;
  EXPECT_EQ(keep_piece(s.all, s.memory.data(), 100), 8 + 8 + 32)
      << "fields of fixed size first, each on 8 bytes";
  EXPECT_EQ(s.memory[0], std::byte{1});
  s.array = {0, 0, 0};
  s.packed.value = 0;
  restore_piece(s.all, s.memory.data());
  EXPECT_EQ(s.array, (std::vector<unsigned char>{1, 2, 3}));
  EXPECT_EQ(s.packed.value, 8);
  EXPECT_EQ(s.varying.unpacked, 17u);
  EXPECT_EQ(most_piece_bytes(s.all), 48 + 8 + 8);
}

TEST(Piece, KeepsTheOtherFieldsWhereOneHasNoRoomOrCannotBe) {
  Fields s;
  s.varying.bytes = 40;
  EXPECT_EQ(keep_piece(s.all, s.memory.data(), 16), 8 + 8 + 48);
  EXPECT_EQ(s.packed.calls, 1);
  EXPECT_EQ(s.memory[16], std::byte{0}) << "nothing is written behind the room";
  s.varying.bytes = 41;
  EXPECT_THROW(keep_piece(s.all, s.memory.data(), 100), Error);
  EXPECT_EQ(s.packed.calls, 2);
}

TEST(FieldTable, ComesBackAsItWas) {
  const std::vector<Field> fields = {
      typed_field(ANADROME_FLOAT64, 1000),
      typed_field(ANADROME_FLOAT32, 0, "none"),
      typed_field(ANADROME_COMPLEX128, 7, "stage-1.k", ANADROME_ROLE_TAPE),
      typed_field(ANADROME_COMPLEX64, 8, "lambda", ANADROME_ROLE_ADJOINT),
      typed_field(ANADROME_INT32, 9, "i"),
      typed_field(ANADROME_INT64, 10, "j"),
      typed_field(ANADROME_BYTE, 1LL << 60, "raw")};
  const std::string table = field_table(fields);
  EXPECT_EQ(table.substr(0, table.find('\n') + 1), "u state float64 1000\n");
  const std::vector<Field> back = parse_field_table(table);
  ASSERT_EQ(back.size(), fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    EXPECT_EQ(back[f].name, fields[f].name);
    EXPECT_EQ(back[f].role, fields[f].role);
    EXPECT_EQ(back[f].type, fields[f].type);
    EXPECT_EQ(back[f].count, fields[f].count);
  }
  EXPECT_EQ(field_table(back), table);
  EXPECT_TRUE(parse_field_table("").empty());
}

TEST(FieldTable, SaysWhichLineIsWrong) {
  for (const std::string line :
       {"", "u", "u state", "u state float64", "u state float64 -1", " state float64 1",
        "u state float64 x", "u state float64 1x", "u state float64 1 ", "u tate float64 1",
        "u state float16 1", "u state float64 9223372036854775807",
        "u state byte 9223372036854775808"}) {
    const Failure failure =
        failure_from([&] { parse_field_table("v state byte 1\n" + line + "\n"); });
    EXPECT_EQ(failure.status, ANADROME_ERR_CORRUPT);
    EXPECT_TRUE(test::has_part(failure.message, "'" + line + "'"));
  }
}

// ---- times ----

TEST(Meter, IsTheMeanPerStepWithoutTheFirstSample) {
  Meter meter;
  EXPECT_EQ(meter.seconds(), 0);
  meter.add(3, 0);
  EXPECT_EQ(meter.seconds(), 0) << "no step, no sample";
  meter.add(300, 3);
  EXPECT_DOUBLE_EQ(meter.seconds(), 100);
  meter.add(2, 1);
  EXPECT_DOUBLE_EQ(meter.seconds(), 2) << "the first one is forgotten";
  meter.add(4, 1);
  EXPECT_DOUBLE_EQ(meter.seconds(), 3) << "the mean of the others";
}

TEST(Meter, FollowsADriftAndCutsASampleThatWasInterrupted) {
  for (const auto& [sample, counts_as] : {std::pair{2.0, 2.0}, {1000.0, 8.0}}) {
    Meter meter;
    for (int i = 0; i < 41; ++i) meter.add(1, 1);
    meter.add(sample, 1);
    EXPECT_NEAR(meter.seconds(), 1 + 0.05 * (counts_as - 1), 1e-12) << "with its least weight";
  }
}

TEST(RecentMedian, LeavesOutAHiccupAndFollowsAChangeWithinThreeTransfers) {
  RecentMedian transfers;
  transfers.add(1, 0);
  EXPECT_EQ(transfers.seconds(), 0) << "no sample";
  for (const double seconds : {90.0, 2.0, 2.0, 80.0, 2.0, 4.0}) transfers.add(2 * seconds, 2);
  EXPECT_DOUBLE_EQ(transfers.seconds(), 2);
  for (int i = 0; i < 9; ++i) transfers.add(1, 1);
  for (int i = 0; i < 3; ++i) transfers.add(7, 1);
  EXPECT_DOUBLE_EQ(transfers.seconds(), 7);
}

TEST(Sampler, TimesEveryLongEventAndOneOfManyShortOnes) {
  Sampler sampler;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(sampler.due(0)) << "it may be long";
    EXPECT_TRUE(sampler.due(1));
    EXPECT_EQ(sampler.stands_for(1e-6), 1e-6);
  }
  int timed = 0;
  for (std::int64_t i = 0; i < 3 * Sampler::kOneOf; ++i) {
    if (!sampler.due(1e-9)) continue;
    ++timed;
    EXPECT_EQ(sampler.stands_for(1e-6), static_cast<double>(Sampler::kOneOf) * 1e-6);
  }
  EXPECT_EQ(timed, 3);
}

}  // namespace
}  // namespace anadrome::store

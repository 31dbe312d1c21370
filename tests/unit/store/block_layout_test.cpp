// SPDX-License-Identifier: BSD-2-Clause
#include "store/memory/block_layout.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

#include "base/error.h"

namespace anadrome::store {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

Field field(anadrome_type type, std::int64_t count) {
  return {"u", ANADROME_ROLE_STATE, type, count, false, nullptr, {}};
}

std::int64_t bytes_of(const std::vector<Field>& fields) {
  return std::accumulate(fields.begin(), fields.end(), std::int64_t{0},
                         [](std::int64_t sum, const Field& f) { return sum + f.bytes(); });
}

BlockShape shape_of(const std::vector<Field>& fields, std::int64_t memory, bool disk) {
  return choose_block_shape({bytes_of(fields), static_cast<std::int64_t>(fields.size()), disk},
                            memory);
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
  const std::int64_t number = 1 + below(random, 4);
  for (std::int64_t f = 0; f < number; ++f) {
    const std::int64_t count = below(random, 1000) << below(random, 10);
    fields.push_back(field(kTypes[below(random, 7)], count));
  }
  return fields;
}

TEST(ElementBytes, AreThoseOfTheType) {
  EXPECT_EQ(element_bytes(ANADROME_FLOAT32), 4);
  EXPECT_EQ(element_bytes(ANADROME_FLOAT64), 8);
  EXPECT_EQ(element_bytes(ANADROME_COMPLEX64), 8);
  EXPECT_EQ(element_bytes(ANADROME_COMPLEX128), 16);
  EXPECT_EQ(element_bytes(ANADROME_INT32), 4);
  EXPECT_EQ(element_bytes(ANADROME_INT64), 8);
  EXPECT_EQ(element_bytes(ANADROME_BYTE), 1);
  EXPECT_EQ(element_bytes(static_cast<anadrome_type>(7)), 0);
}

TEST(Field, RefusesASizeThatOverflows) {
  EXPECT_THROW(field(ANADROME_COMPLEX128, std::int64_t{1} << 60).bytes(), Error);
}

TEST(BlockShape, GivesLargeStatesABlockOfTheirOwn) {
  const BlockShape shape = choose_block_shape({8 * kMiB, 1, true}, 1024 * kMiB);
  EXPECT_EQ(shape.states, 1);
  EXPECT_TRUE(shape.paged);
}

TEST(BlockShape, PutsSmallStatesTogetherUntilAWriteHasAbout4MiB) {
  const BlockShape shape = choose_block_shape({24, 1, true}, 1024 * kMiB);
  EXPECT_FALSE(shape.paged);
  EXPECT_GE(shape.states * 24, 4 * kMiB);
  EXPECT_LE(shape.states * 24, 5 * kMiB);
}

TEST(BlockShape, TakesAtLeastOneState) {
  for (const bool disk : {false, true}) {
    EXPECT_EQ(choose_block_shape({1000, 2, disk}, 0).states, 1);
    EXPECT_EQ(choose_block_shape({100 * kMiB, 2, disk}, kMiB).states, 1);
    EXPECT_GE(choose_block_shape({0, 1, disk}, kMiB).states, 1);
  }
}

TEST(BlockShape, RefusesASizeThatOverflows) {
  EXPECT_THROW(choose_block_shape({std::numeric_limits<std::int64_t>::max() - 7, 1, true}, kMiB),
               Error);
}

TEST(BlockShape, LetsSixteenBlocksFitIntoMemoryOrFourOfTinyStatesUnlessAStateFillsOne) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<Field> fields = random_fields(random);
    const std::int64_t memory = (1 + below(random, 64)) << (10 + below(random, 12));
    for (const bool disk : {false, true}) {
      const BlockShape shape = shape_of(fields, memory, disk);
      const BlockLayout layout(shape, fields);
      if (shape.states == 1) continue;
      const bool tiny = disk && !shape.paged && layout.state_bytes() <= kPage / 2;
      EXPECT_LE((tiny ? 4 : 16) * layout.block_bytes(), memory);
    }
  }
}

TEST(BlockLayout, IsMadeOfWholePagesForDisk) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<Field> fields = random_fields(random);
    const std::int64_t memory = (1 + below(random, 64)) << (10 + below(random, 20));
    const BlockLayout layout(shape_of(fields, memory, true), fields);
    EXPECT_EQ(layout.block_bytes() % kPage, 0);
    for (std::size_t f = 0; f < fields.size(); ++f) {
      EXPECT_EQ(layout.parts()[f].offset % kPage, 0);
      EXPECT_EQ(layout.part_bytes(f) % kPage, 0);
    }
  }
}

TEST(BlockLayout, LaysStatesSideBySideWithoutOverlap) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const std::vector<Field> fields = random_fields(random);
    const bool disk = below(random, 2) == 0;
    const BlockLayout layout(shape_of(fields, 16 * kMiB, disk), fields);
    std::int64_t end = 0;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const BlockLayout::Part& part = layout.parts()[f];
      EXPECT_EQ(part.bytes, fields[f].bytes());
      EXPECT_GE(part.stride, part.bytes);
      EXPECT_EQ(part.stride % 8, 0);
      EXPECT_EQ(part.stride % element_bytes(fields[f].type), 0);
      EXPECT_EQ(part.offset, end);
      end += layout.part_bytes(f);
      std::byte* const begin = nullptr;
      EXPECT_EQ(layout.address(begin, layout.states() - 1, f) - begin + part.stride, end);
    }
    EXPECT_EQ(layout.block_bytes(), end);
    EXPECT_EQ(layout.state_bytes(), bytes_of(fields));
  }
}

TEST(BlockLayout, PadsOnlyToWordsWhereStatesArePacked) {
  const std::vector<Field> fields = {field(ANADROME_BYTE, 13), field(ANADROME_FLOAT64, 3)};
  const BlockLayout layout({512, false}, fields);
  EXPECT_EQ(layout.parts()[0].stride, 16);
  EXPECT_EQ(layout.parts()[1].stride, 24);
  EXPECT_EQ(layout.parts()[1].offset, 512 * 16);
  EXPECT_EQ(layout.block_bytes(), 512 * 40);
  EXPECT_EQ(layout.state_bytes(), 37);
}

TEST(BlockLayout, GivesAnEmptyFieldNoBytes) {
  const std::vector<Field> fields = {field(ANADROME_FLOAT64, 0), field(ANADROME_FLOAT32, 1)};
  const BlockLayout layout({1, true}, fields);
  EXPECT_EQ(layout.part_bytes(0), 0);
  EXPECT_EQ(layout.block_bytes(), kPage);
}

TEST(BlockLayout, RefusesASizeThatOverflows) {
  const std::vector<Field> fields = {field(ANADROME_BYTE, std::int64_t{1} << 61)};
  EXPECT_THROW(BlockLayout({8, true}, fields), Error);
  const std::vector<Field> two = {field(ANADROME_BYTE, std::int64_t{1} << 62),
                                  field(ANADROME_BYTE, std::int64_t{1} << 62)};
  EXPECT_THROW(BlockLayout({1, true}, two), Error);
}

}  // namespace
}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/single_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "base/error.h"
#include "has_part.h"
#include "store/memory/field_copy.h"
#include "store/tiers/ram_tier.h"

namespace anadrome::store {
namespace {

template <class Number>
Field field(const char* name, anadrome_type type, std::vector<Number>& numbers,
            double tolerance = -1) {
  Field field;
  field.name = name;
  field.type = type;
  field.count = static_cast<std::int64_t>(numbers.size());
  field.values = numbers.data();
  field.tolerance = tolerance;
  return field;
}

// Doubles, complex numbers and integers in slots of a pool of one block.
struct Slots {
  explicit Slots(double tolerance = -1) : reals_tolerance(tolerance) {}

  std::vector<double> reals = {1.0 / 3, -1e-300, 1e30, std::numeric_limits<double>::infinity()};
  std::vector<std::complex<double>> complexes = {{0.1, -0.2}};
  std::vector<std::int64_t> integers = {std::int64_t{1} << 60, 7, -1};
  double reals_tolerance;
  std::vector<Field> fields = {field("u", ANADROME_FLOAT64, reals, reals_tolerance),
                               field("z", ANADROME_COMPLEX128, complexes),
                               field("n", ANADROME_INT64, integers)};
  BlockLayout layout{{4, false}, single_fields(fields)};
  Pool pool{layout.block_bytes(), 1};
  SingleState live{layout, fields, pool};
};

TEST(SingleState, BringsBackTheNearestNumbersInSinglePrecision) {
  Slots s;
  const auto integers = s.integers;
  const std::int64_t block = s.pool.take();
  s.live.keep(block, 2);
  s.reals.assign(4, 0);
  s.complexes[0] = 0;
  s.integers.assign(3, 0);
  s.live.restore(block, 2);
  const std::vector<double> nearest = {double(1.0F / 3.0F), -0.0, double(1e30F), INFINITY};
  EXPECT_EQ(s.reals, nearest);
  EXPECT_EQ(s.complexes[0], std::complex<double>(0.1F, -0.2F));
  EXPECT_EQ(s.integers, integers);
}

TEST(SingleState, KeepsStatesSideBySide) {
  Slots s;
  const std::int64_t block = s.pool.take();
  for (std::int64_t i = 0; i < 4; ++i) {
    s.integers[2] = i;
    s.reals[0] = double(i);
    s.live.keep(block, i);
  }
  for (std::int64_t i = 0; i < 4; ++i) {
    s.live.restore(block, i);
    EXPECT_EQ(s.reals[0], double(i));
    EXPECT_EQ(s.integers[2], i);
  }
}

TEST(SingleState, RefusesANumberThatIsTooLargeWithEveryOtherFieldKept) {
  Slots s;
  const std::int64_t block = s.pool.take();
  s.reals[1] = 1e39;
  const Failure failure = failure_from([&] { s.live.keep(block, 0); });
  EXPECT_EQ(failure.status, ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(test::has_part(failure.message, "'u'"));
  s.integers[0] = 0;
  s.live.restore(block, 0);
  EXPECT_EQ(s.integers[0], std::int64_t{1} << 60);
}

TEST(SingleState, RefusesAFillValueThatItWouldChange) {
  Slots s;
  const std::int64_t block = s.pool.take();
  s.reals = {1e20, 1e20, 2, 1};
  EXPECT_EQ(failure_from([&] { s.live.keep(block, 0); }).status, ANADROME_ERR_ARGUMENT);
  Slots exact;
  exact.reals = {std::ldexp(1.0, 66), std::ldexp(1.0, 66), 2, 1};
  EXPECT_FALSE(failure_from([&] { exact.live.keep(exact.pool.take(), 0); }));
}

TEST(SingleState, ChangesNoNumberByMoreThanItsField) {
  Slots coarse(1), fine(1e-12), exact(0);
  coarse.reals = fine.reals = exact.reals = {1.0 / 3, 0.1, 2, 1};
  EXPECT_FALSE(failure_from([&] { coarse.live.keep(coarse.pool.take(), 0); }));
  EXPECT_EQ(failure_from([&] { fine.live.keep(fine.pool.take(), 0); }).status,
            ANADROME_ERR_ARGUMENT);
  const auto reals = exact.reals;
  const std::int64_t block = exact.pool.take();
  exact.live.keep(block, 0);
  exact.reals.assign(4, 0);
  exact.live.restore(block, 0);
  EXPECT_EQ(exact.reals, reals);
}

TEST(SingleState, LeavesX0AsItIsBesideTheBlocks) {
  Slots s;
  BlockKeeper blocks(s.pool);
  RamTier tier(s.layout, blocks, s.live, most_piece_bytes(s.fields));
  const auto reals = s.reals;
  tier.keep({0, 0});
  EXPECT_EQ(s.pool.free_blocks(), 1) << "x_0 takes none";
  tier.keep({1, 5});
  s.reals.assign(4, 0);
  tier.restore({0, 0});
  EXPECT_EQ(s.reals, reals);
  tier.restore({1, 5});
  EXPECT_EQ(s.reals[0], double(1.0F / 3.0F));
  tier.drop(0);
  EXPECT_EQ(s.pool.free_blocks(), 0);
  tier.keep({0, 3});
  tier.restore({0, 3});
  EXPECT_EQ(s.reals[0], double(1.0F / 3.0F)) << "its slot is one as others are";
}

}  // namespace
}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "base/checked.h"

#include <gtest/gtest.h>

#include <limits>

namespace anadrome {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST(CheckedArithmetic, IsExactWhereTheResultFits) {
  EXPECT_EQ(checked_add(2, 3), 5);
  EXPECT_EQ(checked_add(kMost - 1, 1), kMost);
  EXPECT_EQ(checked_add(kMost, kLeast), -1);
  EXPECT_EQ(checked_multiply(6, 7), 42);
  EXPECT_EQ(checked_multiply(kMost, 1), kMost);
  EXPECT_EQ(checked_multiply(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
  EXPECT_EQ(round_up(0, 4096), 0);
  EXPECT_EQ(round_up(1, 4096), 4096);
  EXPECT_EQ(round_up(4096, 4096), 4096);
  EXPECT_EQ(round_up(4097, 4096), 8192);
  EXPECT_EQ(round_up(kMost, 1), kMost);
  EXPECT_EQ(ceil_divide(0, 8), 0);
  EXPECT_EQ(ceil_divide(1, 8), 1);
  EXPECT_EQ(ceil_divide(8, 8), 1);
  EXPECT_EQ(ceil_divide(9, 8), 2);
  EXPECT_EQ(ceil_divide(kMost, 2), (kMost >> 1) + 1);
}

TEST(CheckedArithmetic, SaysWhereItDoesNotFit) {
  const auto status = [](auto&& body) { return failure_from(body).status; };
  EXPECT_EQ(status([] { checked_add(kMost, 1); }), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(status([] { checked_add(kLeast, -1); }), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(status([] { checked_multiply(1LL << 32, 1LL << 31); }), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(status([] { checked_multiply(kLeast, -1); }), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(status([] { round_up(kMost, 4096); }), ANADROME_ERR_ARGUMENT);
}

}  // namespace
}  // namespace anadrome

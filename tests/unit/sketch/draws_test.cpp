// SPDX-License-Identifier: BSD-2-Clause
#include "sketch/draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace anadrome::sketch {
namespace {

constexpr std::int64_t kDraws = 100000;

// Means of many independent numbers of variance 1 are as small as that but once in 10^6 times.
const double kSmall = 5 / std::sqrt(static_cast<double>(kDraws));

template <class Number>
double mean(Number&& number) {
  double sum = 0;
  for (std::int64_t step = 0; step < kDraws; ++step) sum += number(step);
  return sum / static_cast<double>(kDraws);
}

TEST(Draws, AreFunctionsOfSeedAndStepAlone) {
  const Draws forward = draw(7), back = draw(7);
  std::vector<std::uint64_t> seen;
  for (std::int64_t step = 0; step < 50; ++step) seen.push_back(forward.ticket(step, step % 3));
  for (std::int64_t step = 50; step-- > 0;) {
    EXPECT_EQ(back.ticket(step, step % 3), seen[static_cast<std::size_t>(step)]);
  }
}

TEST(Draws, SignsKnowNothingOfOtherStepsAndSeeds) {
  const Draws draws = draw(1), others = draw(2);
  const auto sign = [&](std::int64_t step) { return draws.sign(step); };
  EXPECT_EQ(mean([&](std::int64_t step) { return sign(step) * sign(step); }), 1);
  EXPECT_LT(std::fabs(mean(sign)), kSmall);
  EXPECT_LT(std::fabs(mean([&](auto step) { return sign(step) * sign(step + 1); })), kSmall);
  EXPECT_LT(std::fabs(mean([&](auto step) { return sign(step) * others.sign(step); })), kSmall);
  EXPECT_LT(std::fabs(mean([&](auto step) {
              return sign(step) * sign(step + 1) * sign(step + 2) * sign(step + 3);
            })),
            kSmall);
  EXPECT_LT(std::fabs(mean([&](auto step) { return sign(step) * draws.note(step); })), kSmall);
}

TEST(Draws, BucketsAreUsedEvenly) {
  constexpr std::int64_t kArrays = 7;
  const Draws draws = draw(3);
  std::vector<double> steps(kArrays), pairs(kArrays * kArrays);
  for (std::int64_t step = 0; step < kDraws; ++step) {
    const std::int64_t bucket = draws.bucket(step, kArrays);
    ASSERT_TRUE(bucket >= 0 && bucket < kArrays);
    ++steps[static_cast<std::size_t>(bucket)];
    ++pairs[static_cast<std::size_t>(bucket * kArrays + draws.bucket(step + 1, kArrays))];
  }
  for (const double one : steps) EXPECT_NEAR(one, kDraws / 7.0, 5 * std::sqrt(kDraws / 7.0));
  for (const double one : pairs) {
    EXPECT_NEAR(one, kDraws / 49.0, 5 * std::sqrt(kDraws / 49.0));
  }
}

TEST(Draws, NotesHaveMeanZeroAndVarianceOne) {
  const Draws draws = draw(4);
  std::set<double> seen;
  for (std::int64_t step = 0; step < kDraws; ++step) seen.insert(draws.note(step));
  EXPECT_EQ(seen, (std::set<double>{-4, 0, 4}));
  EXPECT_LT(std::fabs(mean(draws.note)), kSmall);
  EXPECT_NEAR(mean([&](auto step) { return draws.note(step) * draws.note(step); }), 1,
              std::sqrt(15.0) * kSmall);
}

}  // namespace
}  // namespace anadrome::sketch

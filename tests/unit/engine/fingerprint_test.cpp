// SPDX-License-Identifier: BSD-2-Clause
// Fingerprints tell how far apart two fields are.
#include "engine/fingerprint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

namespace anadrome::engine {
namespace {

template <class Value>
Fingerprint print(anadrome_type type, const std::vector<Value>& values) {
  return fingerprint(type, values.data(), static_cast<std::int64_t>(values.size()));
}

std::vector<double> random_values(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

TEST(Fingerprint, OfTheSameBytesIsTheSame) {
  const auto values = random_values(5000, 1);
  EXPECT_EQ(distance(print(ANADROME_FLOAT64, values), print(ANADROME_FLOAT64, values)), 0);
}

TEST(Fingerprint, HasTheSquareOfTheNorm) {
  for (const std::size_t count : {1u, 15u, 16u, 17u, 2047u, 2048u, 2049u, 10000u}) {
    const auto values = random_values(count, 2);
    double square = 0;
    for (const double value : values) square += value * value;
    EXPECT_NEAR(print(ANADROME_FLOAT64, values).square, square, 1e-12 * square) << count;
  }
}

TEST(Fingerprint, IsAboutAsFarFromAnotherAsTheValuesAre) {
  int close = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto values = random_values(3000, seed), errors = random_values(3000, seed + 1000);
    auto others = values;
    double norm = 0;
    for (std::size_t i = 0; i < others.size(); ++i) {
      others[i] += 1e-6 * errors[i];
      norm += 1e-12 * errors[i] * errors[i];
    }
    const double estimate =
        distance(print(ANADROME_FLOAT64, values), print(ANADROME_FLOAT64, others));
    close += estimate > 0.1 * std::sqrt(norm) && estimate < 3 * std::sqrt(norm) ? 1 : 0;
  }
  EXPECT_GE(close, 97) << "Rayleigh's distribution: 99 %";
}

TEST(Fingerprint, SeesEverySingleElement) {
  auto values = random_values(5000, 3);
  const Fingerprint first = print(ANADROME_FLOAT64, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    values[i] += 1e-3;
    const double estimate = distance(first, print(ANADROME_FLOAT64, values));
    ASSERT_TRUE(estimate > 0.4e-3 && estimate < 1.6e-3) << i << " " << estimate;
    values[i] = value;
  }
  std::swap(values[7], values[2048 + 7]);
  EXPECT_GT(distance(first, print(ANADROME_FLOAT64, values)), 1e-2) << "of two that change places";
}

TEST(Fingerprint, OfOtherTypes) {
  const std::vector<float> floats = {1, 2, 3};
  EXPECT_EQ(print(ANADROME_FLOAT32, floats).square, 14);
  const std::vector<std::complex<double>> numbers = {{3, 4}, {0, 1}};
  EXPECT_EQ(print(ANADROME_COMPLEX128, numbers).square, 26);
  const std::vector<std::int32_t> integers = {1, 2, 3}, others = {1, 2, 4};
  EXPECT_EQ(print(ANADROME_INT32, integers).square, 0);
  EXPECT_GT(distance(print(ANADROME_INT32, integers), print(ANADROME_INT32, others)), 0);
}

TEST(Fingerprint, OfWhatIsNoNumberIsInfinitelyFar) {
  auto values = random_values(20, 4);
  const Fingerprint first = print(ANADROME_FLOAT64, values);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    values[3] = bad;
    EXPECT_TRUE(std::isinf(distance(first, print(ANADROME_FLOAT64, values))));
  }
  std::vector<double> zero = {0.0}, negative = {-0.0};
  const double signs = distance(print(ANADROME_FLOAT64, zero), print(ANADROME_FLOAT64, negative));
  EXPECT_TRUE(signs > 0 && signs < 1e-300) << "the bits differ, the numbers do not";
}

}  // namespace
}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// Fingerprints tell how far apart two fields are.
#include "engine/sweep/fingerprint.h"

#include <gtest/gtest.h>

#include <cfenv>
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

double far(const std::vector<double>& first, const std::vector<double>& again) {
  const Fingerprint print = engine::fingerprint(ANADROME_FLOAT64, first.data(), std::ssize(first));
  return distance(ANADROME_FLOAT64, print,
                  engine::fingerprint(ANADROME_FLOAT64, again.data(), std::ssize(again), &print));
}
Apart each(const std::vector<double>& first, const std::vector<double>& again) {
  const Fingerprint print = engine::fingerprint(ANADROME_FLOAT64, first.data(), std::ssize(first));
  return apart(ANADROME_FLOAT64, first.data(), again.data(), std::ssize(first), print);
}
double root_mean_square(const std::vector<double>& relative) {
  double square = 0;
  for (const double one : relative) square += one * one;
  return std::sqrt(square / static_cast<double>(relative.size()));
}

TEST(Fingerprint, OfTheSameBytesIsTheSame) {
  const auto values = random_values(5000, 1);
  EXPECT_EQ(far(values, values), 0);
  EXPECT_EQ(each(values, values).element, -1);
}

TEST(Fingerprint, IsAboutAsFarFromAnotherAsTheNumbersAreInTheMean) {
  int close = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto values = random_values(3000, seed);
    auto errors = random_values(3000, seed + 1000), others = values;
    for (std::size_t i = 0; i < others.size(); ++i) others[i] *= 1 + (errors[i] *= 1e-6);
    const double estimate = far(values, others), mean = root_mean_square(errors);
    close += estimate > 0.1 * mean && estimate < 6 * mean ? 1 : 0;
  }
  EXPECT_GE(close, 97) << "Rayleigh's distribution: 99 %";
}

TEST(Fingerprint, SeesEverySingleElement) {
  auto values = random_values(5000, 3);
  for (double& value : values) value = 2 + std::tanh(value);
  auto others = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    others[i] *= 1 + 1e-3;
    const double estimate = far(values, others) * std::sqrt(5000.0);
    ASSERT_TRUE(estimate > 1e-6 && estimate < 4e-3) << i << " " << estimate;
    ASSERT_NEAR(each(values, others).most, 1.5e-3, 0.6e-3);
    ASSERT_EQ(each(values, others).element, static_cast<std::int64_t>(i));
    others[i] = values[i];
  }
  std::swap(others[7], others[2048 + 7]);
  EXPECT_GT(far(values, others), 1e-3) << "of two that change places";
}

// The same relative differences, whatever else the field holds.
TEST(Fingerprint, MeasuresEachNumberAgainstItself) {
  for (const double fill : {0.0, -999.0, 1e16, 1e20, 9.969209968386869e36, 1e200, 1e-300, 5e-324,
                            std::numeric_limits<double>::infinity(), std::nan("")}) {
    for (const double unit : {1.0, 1e-6, 1e5, 1e-290, 1e290}) {
      auto values = random_values(4000, 5);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = i % 10 == 3 ? fill : (2 + std::tanh(values[i])) * (i % 2 == 0 ? unit : 1);
      }
      auto others = values;
      for (std::size_t i = 0; i < values.size(); i += 2) others[i] *= 1 + 1e-9;
      EXPECT_GT(far(values, others), 3e-10) << fill << " " << unit;
      EXPECT_LT(far(values, others), 3e-9) << fill << " " << unit;
      EXPECT_NEAR(each(values, others).most, 1.5e-9, 0.6e-9) << fill << " " << unit;
    }
  }
}

// Near zero the rounding is that of the numbers around.
TEST(Fingerprint, TakesRoundingForWhatItIsWhereAFieldPassesThroughZero) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> between(-1, 1);
  std::vector<double> values(100000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(1e-3 * static_cast<double>(i));
  values[50] = 0;
  values[51] = 1e-17;
  auto others = values;
  for (double& value : others) value += 2e-16 * between(random);
  EXPECT_LT(each(values, others).most, rounding_of_step(ANADROME_FLOAT64));
  EXPECT_LT(far(values, others), rounding_of_step(ANADROME_FLOAT64) / 10);
  others[51] = 1e-10;
  EXPECT_GT(each(values, others).most, rounding_of_step(ANADROME_FLOAT64)) << "and more for more";
}

TEST(Fingerprint, SeesOneCellOfAMillion) {
  const auto values = random_values(1000000, 7);
  auto others = values;
  others[765432] *= 1 + 1e-8;
  EXPECT_GT(far(values, others), rounding_of_step(ANADROME_FLOAT64));
  EXPECT_EQ(each(values, others).element, 765432);
}

TEST(Fingerprint, OfOtherTypes) {
  const std::vector<float> floats = {1, 2, 3, -4}, other_floats = {1, 2, 3.001F, -4};
  const Fingerprint first = print(ANADROME_FLOAT32, floats);
  EXPECT_EQ(first.reals, 4);
  EXPECT_NEAR(apart(ANADROME_FLOAT32, floats.data(), other_floats.data(), 4, first).most, 5e-4,
              2e-4);
  const std::vector<std::complex<double>> numbers = {{3, 4}, {0, 1}};
  EXPECT_EQ(print(ANADROME_COMPLEX128, numbers).reals, 4);
  const std::vector<std::int32_t> integers = {1, 2, 3}, others = {1, 2, 4};
  const Fingerprint whole = print(ANADROME_INT32, integers);
  EXPECT_EQ(whole.reals, 0);
  EXPECT_TRUE(std::isinf(distance(ANADROME_INT32, whole, print(ANADROME_INT32, others))));
  EXPECT_EQ(apart(ANADROME_INT32, integers.data(), others.data(), 3, whole).element, 2);
}

TEST(Fingerprint, OfWhatIsNoNumberIsFarFromNumbers) {
  const auto values = random_values(20, 4);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto others = values;
    others[3] = bad;
    EXPECT_GT(far(values, others), 1e-3);
    EXPECT_GT(far(others, values), 1e-3);
    EXPECT_GT(each(values, others).most, 1);
  }
  EXPECT_EQ(far({0.0}, {-0.0}), 0) << "the bits differ, the numbers do not";
  EXPECT_EQ(each({0.0}, {-0.0}).element, 0);
  EXPECT_EQ(far({std::nan("1")}, {std::nan("2")}), 0);
}

// Signalling NaN, and squares beyond the largest number, must not end a program that traps these.
TEST(Fingerprint, RaisesNothing) {
  std::feclearexcept(FE_ALL_EXCEPT);
  const std::vector<double> values = {std::numeric_limits<double>::signaling_NaN(), 1e300, 5e-324,
                                      -1e-310, std::numeric_limits<double>::infinity()};
  const std::vector<double> others = {1, 1e301, 0, 1e-310, -1e300};
  EXPECT_GT(far(values, others), 0);
  EXPECT_GT(each(values, others).most, 0);
  EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO), 0);
}

}  // namespace
}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// Means over all that can be drawn, not over samples: what docs/theory-sketches.md derives.
#include <gtest/gtest.h>

#include <functional>

#include "base/index.h"
#include "correlation.h"

namespace anadrome::sketch {
namespace {

/// All words of `length` letters, each with its chance: the product of its letters'.
void for_each_word(std::size_t length, const std::vector<double>& chances,
                   const std::function<void(const std::vector<int>& word, double chance)>& body) {
  std::vector<int> word(length, 0);
  for (;;) {
    double chance = 1;
    for (const int letter : word) chance *= chances[static_cast<std::size_t>(letter)];
    body(word, chance);
    std::size_t i = 0;
    while (i < length && ++word[i] == static_cast<int>(chances.size())) word[i++] = 0;
    if (i == length) return;
  }
}

std::vector<double> even(int letters) {
  return std::vector<double>(static_cast<std::size_t>(letters), 1.0 / letters);
}

/// Means of the gradient, of its square and of the estimated variance.
struct Moments {
  explicit Moments(std::int64_t points)
      : gradient(static_cast<std::size_t>(points)), square(gradient), variance(gradient) {}
  void add(const Outcome& outcome, double chance) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] += chance * outcome.gradient[i];
      square[i] += chance * outcome.gradient[i] * outcome.gradient[i];
      variance[i] += chance * outcome.variance[i];
    }
    chances += chance;
  }
  std::vector<double> gradient, square, variance;
  double chances = 0;
};

void expect_unbiased(const Moments& found, const Correlation& of, anadrome_sketch_kind kind,
                     std::int64_t arrays) {
  EXPECT_NEAR(found.chances, 1, 1e-10);
  for (std::int64_t point = 0; point < of.points; ++point) {
    const auto i = static_cast<std::size_t>(point);
    const double g = of.gradient(point), variance = of.variance(point, kind, arrays);
    EXPECT_GT(variance, 1e-5);
    EXPECT_NEAR(found.gradient[i], g, 1e-11);
    EXPECT_NEAR(found.square[i] - g * g, variance, 1e-11);
    EXPECT_NEAR(found.variance[i], variance, 1e-11);
  }
}

class Enumerated : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  const int steps_ = GetParam().first, arrays_ = GetParam().second;
  const Correlation of_ = some_correlation(steps_, 2);
};
INSTANTIATE_TEST_SUITE_P(Sizes, Enumerated,
                         testing::Values(std::pair(2, 2), std::pair(3, 2), std::pair(3, 3),
                                         std::pair(2, 5)));

double sign(int letter) { return (letter & 1) != 0 ? 1.0 : -1.0; }

// A letter is what is drawn for a step: an array, a sign, whether it is noted, and with which sign.
TEST_P(Enumerated, CountIsUnbiasedAndSoIsItsVariance) {
  Moments found(2);
  for_each_word(at(steps_), even(8 * arrays_), [&](const auto& word, double chance) {
    Draws draws;
    draws.bucket = [&](std::int64_t step, std::int64_t) { return word[at(step)] / 8; };
    draws.sign = [&](std::int64_t step) { return sign(word[at(step)]); };
    draws.note = [&](std::int64_t step) {
      const int letter = word[at(step)] >> 1;
      return (letter & 2) != 0 ? std::sqrt(2.0) * sign(letter) : 0.0;
    };
    found.add(sketch_of(of_, arrays_, ANADROME_SKETCH_COUNT, draws), chance);
  });
  expect_unbiased(found, of_, ANADROME_SKETCH_COUNT, arrays_);
}

// A letter is the step that an array has.
TEST_P(Enumerated, RowsAreUnbiasedAndSoIsTheirVariance) {
  Moments found(2);
  for_each_word(at(arrays_), even(steps_), [&](const auto& word, double chance) {
    Draws draws;
    draws.ticket = [&](std::int64_t step, std::int64_t array) {
      return word[at(array)] == step ? 0u : 1u;
    };
    found.add(sketch_of(of_, arrays_, ANADROME_SKETCH_ROWS, draws), chance);
  });
  expect_unbiased(found, of_, ANADROME_SKETCH_ROWS, arrays_);
}

}  // namespace
}  // namespace anadrome::sketch

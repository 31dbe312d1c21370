// SPDX-License-Identifier: BSD-2-Clause
#include "sketch/sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "correlation.h"

namespace anadrome::sketch {
namespace {

constexpr std::int64_t kMany = 1500;  // points: more than are gone through at a time

class EveryKind : public testing::TestWithParam<anadrome_sketch_kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind,
                         testing::Values(ANADROME_SKETCH_COUNT, ANADROME_SKETCH_ROWS));

// With what is really drawn: many seeds have the mean and the variance of the formulas.
TEST_P(EveryKind, SeedsHaveTheMeanAndTheVarianceThatItSays) {
  constexpr std::int64_t kSeeds = 4000, kArrays = 8;
  const Correlation of = some_correlation(40, 1);
  const double g = of.gradient(0), variance = of.variance(0, GetParam(), kArrays);
  double sum = 0, squares = 0, estimated = 0;
  for (std::int64_t seed = 0; seed < kSeeds; ++seed) {
    const Outcome outcome = sketch_of(of, kArrays, GetParam(), draw(seed));
    sum += outcome.gradient[0] - g;
    squares += (outcome.gradient[0] - g) * (outcome.gradient[0] - g);
    estimated += outcome.variance[0];
  }
  const auto n = static_cast<double>(kSeeds);
  EXPECT_LT(std::fabs(sum / n), 5 * std::sqrt(variance / n));
  EXPECT_NEAR(squares / n / variance, 1, 0.15);
  EXPECT_NEAR(estimated / n / variance, 1, 0.1);
}

// Each rank has its part of the points.
TEST_P(EveryKind, BitsDoNotDependOnHowPointsAreDivided) {
  const Correlation of = some_correlation(30, kMany);
  const Outcome whole = sketch_of(of, 5, GetParam(), draw(9));
  for (const std::int64_t ranks : {2, 3, 7}) {
    Outcome together;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const std::int64_t begin = rank * kMany / ranks, end = (rank + 1) * kMany / ranks;
      Correlation part{end - begin, {}, {}};
      for (std::size_t t = 0; t < of.x.size(); ++t) {
        part.x.emplace_back(of.x[t].begin() + begin, of.x[t].begin() + end);
        part.y.emplace_back(of.y[t].begin() + begin, of.y[t].begin() + end);
      }
      const Outcome mine = sketch_of(part, 5, GetParam(), draw(9));
      together.gradient.insert(together.gradient.end(), mine.gradient.begin(), mine.gradient.end());
      together.variance.insert(together.variance.end(), mine.variance.begin(), mine.variance.end());
    }
    EXPECT_EQ(together.gradient, whole.gradient);
    EXPECT_EQ(together.variance, whole.variance);
  }
}

TEST_P(EveryKind, AnotherSeedGivesOtherNumbers) {
  const Correlation of = some_correlation(30, 1);
  EXPECT_NE(sketch_of(of, 5, GetParam(), draw(1)).gradient,
            sketch_of(of, 5, GetParam(), draw(2)).gradient);
}

// Within N eps times the sum of what is added up, whose terms are |weight x_t| |weight y_u|.
TEST_P(EveryKind, TheOrderOfStepsChangesRoundOffOnly) {
  constexpr std::int64_t kSteps = 200, kArrays = 6;
  const Correlation of = some_correlation(kSteps, 3);
  const Draws draws = draw(11);
  const Outcome in_order = sketch_of(of, kArrays, GetParam(), draws);
  std::vector<std::size_t> order(kSteps);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [](std::size_t a, std::size_t b) { return a * 77 % 211 < b * 77 % 211; });
  Sketch<double> sketch({3, kArrays, GetParam()}, draws);
  for (const std::size_t t : order) sketch.push(static_cast<std::int64_t>(t), of.x[t].data());
  std::reverse(order.begin(), order.begin() + 90);
  for (const std::size_t t : order) sketch.correlate(static_cast<std::int64_t>(t), of.y[t].data());
  std::vector<double> gradient(3);
  sketch.gradient(gradient.data());
  for (std::int64_t point = 0; point < 3; ++point) {
    const double terms = of.sum(point, [](double x, double) { return std::fabs(x); }) *
                         of.sum(point, [](double, double y) { return std::fabs(y); });
    const auto i = static_cast<std::size_t>(point);
    EXPECT_NEAR(gradient[i], in_order.gradient[i],
                kSteps * std::numeric_limits<double>::epsilon() * terms);
  }
}

TEST_P(EveryKind, SinglePrecisionIsThatOfDoubleRounded) {
  const Correlation of = some_correlation(30, kMany);
  const Draws draws = draw(13);
  const Outcome in_double = sketch_of(of, 4, GetParam(), draws);
  Sketch<float> sketch({kMany, 4, GetParam()}, draws);
  for (std::size_t t = 0; t < of.x.size(); ++t) {
    sketch.push(static_cast<std::int64_t>(t),
                std::vector<float>(of.x[t].begin(), of.x[t].end()).data());
  }
  for (std::size_t t = 0; t < of.y.size(); ++t) {
    sketch.correlate(static_cast<std::int64_t>(t),
                     std::vector<float>(of.y[t].begin(), of.y[t].end()).data());
  }
  std::vector<float> gradient(kMany);
  std::vector<double> variance(kMany);
  sketch.gradient(gradient.data());
  sketch.variance(variance.data());
  for (std::size_t i = 0; i < kMany; ++i) {
    EXPECT_NEAR(gradient[i], in_double.gradient[i], 1e-4);
    EXPECT_NEAR(variance[i], in_double.variance[i], 1e-3);
  }
}

// Squares of small adjoint variables would vanish in single precision.
TEST_P(EveryKind, TheVarianceOfTinyNumbersIsNotLost) {
  const Draws draws = draw(17);
  Sketch<float> sketch({1, 4, GetParam()}, draws);
  for (std::int64_t t = 0; t < 30; ++t) {
    const float x = static_cast<float>(t % 5) * 1e-12f;
    sketch.push(t, &x);
  }
  for (std::int64_t t = 0; t < 30; ++t) {
    const float y = static_cast<float>(t % 7) * 1e-24f;
    sketch.correlate(t, &y);
  }
  double variance = 0;
  sketch.variance(&variance);
  EXPECT_GT(variance, 1e-75);
}

template <class Body>
void expect_error(anadrome_status status, const std::string& words, Body&& body) {
  const Failure failure = failure_from(body);
  EXPECT_EQ(failure.status, status);
  EXPECT_NE(failure.message.find(words), std::string::npos) << failure.message;
}

TEST_P(EveryKind, StepsArePushedBeforeAnyIsCorrelated) {
  Sketch<double> sketch({1, 4, GetParam()}, draw(0));
  const double value = 1;
  expect_error(ANADROME_ERR_ORDER, "step 3 is correlated before any step was pushed",
               [&] { sketch.correlate(3, &value); });
  sketch.push(3, &value);
  sketch.correlate(3, &value);
  expect_error(ANADROME_ERR_ORDER, "step 4 is pushed after a correlation",
               [&] { sketch.push(4, &value); });
  expect_error(ANADROME_ERR_ARGUMENT, "no step -1", [&] { sketch.correlate(-1, &value); });
}

TEST_P(EveryKind, WithoutStepsTheGradientIsZero) {
  const Outcome outcome = sketch_of({2, {}, {}}, 3, GetParam(), draw(0));
  EXPECT_EQ(outcome.gradient, (std::vector<double>{0, 0}));
  EXPECT_EQ(outcome.variance, (std::vector<double>{0, 0}));
}

TEST(Exact, SketchesKeepEveryStep) {
  const Correlation of = some_correlation(12, 2);
  const Outcome outcome = sketch_of(of, 12, ANADROME_SKETCH_EXACT, {});
  for (std::int64_t point = 0; point < 2; ++point) {
    EXPECT_NEAR(outcome.gradient[static_cast<std::size_t>(point)], of.gradient(point), 1e-14);
  }
  EXPECT_EQ(outcome.variance, (std::vector<double>{0, 0}));
  Sketch<double> sketch({1, 12, ANADROME_SKETCH_EXACT}, {});
  const double value = 1;
  expect_error(ANADROME_ERR_ARGUMENT, "no room for step 12", [&] { sketch.push(12, &value); });
}

TEST(Sketch, OfOneArrayDoesNotKnowItsVariance) {
  for (const anadrome_sketch_kind kind : {ANADROME_SKETCH_COUNT, ANADROME_SKETCH_ROWS}) {
    const Sketch<double> sketch({1, 1, kind}, draw(0));
    double variance = 0;
    expect_error(ANADROME_ERR_UNSUPPORTED, "two or more", [&] { sketch.variance(&variance); });
  }
}

TEST(Rows, NeedNotKnowTheNumberOfSteps) {
  Sketch<double> sketch({1, 3, ANADROME_SKETCH_ROWS}, draw(2));
  const double one = 1;
  for (std::int64_t t = 0; t < 40; ++t) sketch.push(2 * t, &one);  // numbers may have gaps
  for (std::int64_t t = 0; t < 40; ++t) sketch.correlate(2 * t, &one);
  double gradient = 0, variance = 1;
  sketch.gradient(&gradient);
  sketch.variance(&variance);
  EXPECT_NEAR(gradient, 40, 1e-12);  // all terms are alike: any sample has their mean
  EXPECT_NEAR(variance, 0, 1e-10);
}

TEST(BytesOf, AreTheArraysAndTheSums) {
  EXPECT_EQ(bytes_of({100, 16, ANADROME_SKETCH_COUNT}, ANADROME_FLOAT64), 8 * 100 * (16 + 3));
  EXPECT_EQ(bytes_of({100, 16, ANADROME_SKETCH_ROWS}, ANADROME_FLOAT64), 8 * 100 * (16 + 2));
  EXPECT_EQ(bytes_of({100, 16, ANADROME_SKETCH_EXACT}, ANADROME_FLOAT64), 8 * 100 * (16 + 1));
  EXPECT_EQ(bytes_of({100, 16, ANADROME_SKETCH_COUNT}, ANADROME_FLOAT32), 4 * 100 * (16 + 4));
  EXPECT_EQ(bytes_of({0, 16, ANADROME_SKETCH_COUNT}, ANADROME_FLOAT32), 0);
}

TEST(BytesOf, RefusesWhatIsNoSketch) {
  const auto refused = [](Shape shape, anadrome_type type, const char* words) {
    expect_error(ANADROME_ERR_ARGUMENT, words, [&] { bytes_of(shape, type); });
  };
  refused({-1, 16, ANADROME_SKETCH_COUNT}, ANADROME_FLOAT64, "negative: -1");
  refused({1, 0, ANADROME_SKETCH_COUNT}, ANADROME_FLOAT64, "at least one array, not 0");
  refused({1, 16, static_cast<anadrome_sketch_kind>(5)}, ANADROME_FLOAT64, "no kind of sketch 5");
  refused({1, 16, static_cast<anadrome_sketch_kind>(-1)}, ANADROME_FLOAT64, "no kind of sketch -1");
  refused({1, 16, ANADROME_SKETCH_COUNT}, ANADROME_COMPLEX64, "sketches are of ANADROME_FLOAT64");
  refused({std::int64_t{1} << 60, 16, ANADROME_SKETCH_COUNT}, ANADROME_FLOAT64, "overflows");
}

}  // namespace
}  // namespace anadrome::sketch

// SPDX-License-Identifier: BSD-2-Clause
#include <anadrome/sketch.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace {

using anadrome::Error;

template <class T>
void expect_the_correlation() {
  anadrome::Sketch<T> made(2, 3, 0, ANADROME_SKETCH_EXACT), sketch = std::move(made);
  const std::vector<T> x = {2, 3}, y = {5, 7};
  sketch.push(0, x);
  sketch.push(2, x.data());
  sketch.correlate(2, y);
  sketch.correlate(0, y.data());
  EXPECT_EQ(sketch.gradient(), (std::vector<T>{20, 42}));
  EXPECT_EQ(sketch.variance(), (std::vector<double>{0, 0}));
}

TEST(SketchInCxx, BothTypesGiveTheCorrelation) {
  expect_the_correlation<double>();
  expect_the_correlation<float>();
  EXPECT_EQ(anadrome::Sketch<double>::bytes(1000, 128), 8 * 1000 * 131);
  EXPECT_EQ(anadrome::Sketch<float>::bytes(1000, 128), 4 * 1000 * 132);
}

TEST(SketchInCxx, FailuresAreThrown) {
  using Doubles = anadrome::Sketch<double>;
  EXPECT_THROW(Doubles(2, 0), Error);
  EXPECT_THROW(Doubles::bytes(2, 0), Error);
  Doubles sketch(2, 1);
  const std::vector<double> two(2), three(3);
  EXPECT_THROW(sketch.correlate(0, two), Error);
  EXPECT_THROW(sketch.push(-1, two), Error);
  EXPECT_THROW(sketch.variance(), Error);
  sketch.push(0, two);
  try {
    sketch.push(1, three);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ANADROME_ERR_ARGUMENT);
    EXPECT_NE(std::string(error.what()).find("2 points, the array 3"), std::string::npos);
  }
}

}  // namespace

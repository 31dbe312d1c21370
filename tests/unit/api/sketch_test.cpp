// SPDX-License-Identifier: BSD-2-Clause
// Sketches through the C interface: arguments, and that types and kinds arrive.
#include <anadrome/sketch.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

template <class T>
std::vector<T> gradient_of(anadrome_type type, std::vector<double>* variance = nullptr) {
  anadrome_sketch* sketch = nullptr;
  EXPECT_EQ(anadrome_sketch_create(2, type, 3, 1, ANADROME_SKETCH_EXACT, &sketch), ANADROME_OK);
  for (int t = 0; t < 3; ++t) {
    const T x[2] = {static_cast<T>(t + 1), static_cast<T>(2)};
    EXPECT_EQ(anadrome_sketch_push(sketch, t, x), ANADROME_OK);
  }
  for (int t = 2; t >= 0; --t) {
    const T y[2] = {static_cast<T>(10), static_cast<T>(t)};
    EXPECT_EQ(anadrome_sketch_correlate(sketch, t, y), ANADROME_OK);
  }
  std::vector<T> gradient(2);
  EXPECT_EQ(anadrome_sketch_gradient(sketch, gradient.data()), ANADROME_OK);
  if (variance != nullptr) {
    EXPECT_EQ(anadrome_sketch_variance(sketch, variance->data()), ANADROME_OK);
  }
  EXPECT_EQ(anadrome_sketch_destroy(&sketch), ANADROME_OK);
  EXPECT_EQ(sketch, nullptr);
  return gradient;
}

TEST(SketchInC, BothTypesGiveTheCorrelation) {
  std::vector<double> variance = {5, 5};
  EXPECT_EQ(gradient_of<double>(ANADROME_FLOAT64, &variance), (std::vector<double>{60, 6}));
  EXPECT_EQ(variance, (std::vector<double>{0, 0}));
  EXPECT_EQ(gradient_of<float>(ANADROME_FLOAT32), (std::vector<float>{60, 6}));
}

TEST(SketchInC, BytesAreKnownBeforehand) {
  int64_t bytes = 0;
  EXPECT_EQ(anadrome_sketch_bytes(1000, ANADROME_FLOAT64, 128, ANADROME_SKETCH_COUNT, &bytes),
            ANADROME_OK);
  EXPECT_EQ(bytes, 8 * 1000 * 131);
}

TEST(SketchInC, ARankWithoutPointsNeedsNoArrays) {
  anadrome_sketch* sketch = nullptr;
  ASSERT_EQ(anadrome_sketch_create(0, ANADROME_FLOAT64, 4, 1, ANADROME_SKETCH_COUNT, &sketch),
            ANADROME_OK);
  EXPECT_EQ(anadrome_sketch_push(sketch, 0, nullptr), ANADROME_OK);
  EXPECT_EQ(anadrome_sketch_correlate(sketch, 0, nullptr), ANADROME_OK);
  EXPECT_EQ(anadrome_sketch_gradient(sketch, nullptr), ANADROME_OK);
  EXPECT_EQ(anadrome_sketch_variance(sketch, nullptr), ANADROME_OK);
  anadrome_sketch_destroy(&sketch);
}

void expect_refused(anadrome_status status, anadrome_status expected, const std::string& words) {
  EXPECT_EQ(status, expected);
  EXPECT_NE(std::string(anadrome_last_error()).find(words), std::string::npos)
      << anadrome_last_error();
}

TEST(SketchInC, MistakesAreNamed) {
  anadrome_sketch* sketch = nullptr;
  const double x = 1;
  double out = 3;
  int64_t bytes = 0;
  const auto create = [&](int64_t count, anadrome_type type, int64_t arrays) {
    return anadrome_sketch_create(count, type, arrays, 1, ANADROME_SKETCH_COUNT, &sketch);
  };
  const anadrome_status wrong = ANADROME_ERR_ARGUMENT;
  expect_refused(anadrome_sketch_create(1, ANADROME_FLOAT64, 1, 1, ANADROME_SKETCH_COUNT, nullptr),
                 wrong, "sketch is NULL");
  expect_refused(anadrome_sketch_bytes(1, ANADROME_FLOAT64, 1, ANADROME_SKETCH_COUNT, nullptr),
                 wrong, "bytes is NULL");
  expect_refused(anadrome_sketch_bytes(-7, ANADROME_FLOAT64, 1, ANADROME_SKETCH_COUNT, &bytes),
                 wrong, "negative: -7");
  expect_refused(create(-2, ANADROME_FLOAT64, 1), wrong, "negative: -2");
  expect_refused(create(2, ANADROME_INT64, 1), wrong, "sketches are of");
  expect_refused(create(2, ANADROME_FLOAT64, 0), wrong, "at least one array");
  expect_refused(create(int64_t{1} << 56, ANADROME_FLOAT64, 1), ANADROME_ERR_MEMORY, "");
  EXPECT_EQ(sketch, nullptr);
  expect_refused(anadrome_sketch_push(sketch, 0, &x), wrong, "sketch_push: sketch is NULL");
  expect_refused(anadrome_sketch_correlate(sketch, 0, &x), wrong, "correlate: sketch is NULL");
  expect_refused(anadrome_sketch_gradient(sketch, &out), wrong, "gradient: sketch is NULL");
  expect_refused(anadrome_sketch_variance(sketch, &out), wrong, "variance: sketch is NULL");
  expect_refused(anadrome_sketch_destroy(nullptr), wrong, "pointer to the handle is NULL");
  ASSERT_EQ(create(1, ANADROME_FLOAT64, 1), ANADROME_OK);
  expect_refused(anadrome_sketch_push(sketch, 0, nullptr), wrong, "x is NULL");
  expect_refused(anadrome_sketch_push(sketch, -1, &x), wrong, "no step -1");
  expect_refused(anadrome_sketch_correlate(sketch, 0, &x), ANADROME_ERR_ORDER, "before any step");
  EXPECT_EQ(anadrome_sketch_push(sketch, 0, &x), ANADROME_OK);
  expect_refused(anadrome_sketch_correlate(sketch, 0, nullptr), wrong, "y is NULL");
  EXPECT_EQ(anadrome_sketch_correlate(sketch, 0, &x), ANADROME_OK);
  expect_refused(anadrome_sketch_push(sketch, 0, &x), ANADROME_ERR_ORDER, "after a correlation");
  expect_refused(anadrome_sketch_gradient(sketch, nullptr), wrong, "gradient is NULL");
  expect_refused(anadrome_sketch_variance(sketch, &out), ANADROME_ERR_UNSUPPORTED, "one array");
  EXPECT_EQ(out, 3);
  EXPECT_EQ(anadrome_sketch_gradient(sketch, &out), ANADROME_OK);
  EXPECT_EQ(out, 1);
  EXPECT_EQ(anadrome_sketch_destroy(&sketch), ANADROME_OK);
  EXPECT_EQ(anadrome_sketch_destroy(&sketch), ANADROME_OK);
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Residuals: whatever the guess, the state comes back; and good guesses leave few bits.
#include "engine/undo/residual.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/index.h"

namespace anadrome::engine {
namespace {

using State = std::vector<std::byte>;

std::vector<store::Field> fields(std::int64_t count) {
  std::vector<store::Field> all;
  for (const anadrome_type type :
       {ANADROME_BYTE, ANADROME_FLOAT64, ANADROME_FLOAT32, ANADROME_INT64, ANADROME_INT32,
        ANADROME_COMPLEX64, ANADROME_COMPLEX128}) {
    store::Field field;
    field.type = type;
    field.count = count++;
    all.push_back(field);
  }
  return all;
}

State random_state(std::int64_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  State state(size(bytes));
  for (std::byte& byte : state) byte = static_cast<std::byte>(random());
  return state;
}

State of(std::span<const double> numbers) {
  const auto bytes = std::as_bytes(numbers);
  return {bytes.begin(), bytes.end()};
}

// Groups and stretches that are full, in part, or empty; every pattern of bits, NaNs among them.
TEST(Residual, GivesBackEveryBit) {
  for (const std::int64_t count : {0, 1, 3, 63, 64, 65, 1000, 4096, 4097, 9001}) {
    const std::vector<store::Field> all = fields(count);
    const Residual residual(all);
    const State exact = random_state(store::total_bytes(all), 1);
    for (State guess : {random_state(std::ssize(exact), 2), exact, State(exact.size())}) {
      const State kept = guess;
      const std::int64_t bits = residual.take(exact, guess);
      EXPECT_EQ(bits == 0, kept == exact);
      residual.add(kept, guess);
      EXPECT_EQ(guess, exact) << count;
    }
  }
}

TEST(Residual, OfNeighboursHasOneBitOrTwo) {
  std::vector<store::Field> all(1);
  all[0].type = ANADROME_FLOAT64;
  all[0].count = 1024;
  std::vector<double> numbers(1024), others;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::ldexp(double(i) - 512, -3);
  numbers[5] = std::nextafter(0.0, 1.0);  // across zero its neighbour has the other sign
  for (const double number : numbers) others.push_back(std::nextafter(number, -INFINITY));
  const State exact = of(numbers);
  State guess = of(others);
  EXPECT_LE(Residual(all).take(exact, guess), 3 * 1024);
  // All of the planes but the lowest are zero.
  EXPECT_LE(std::count_if(guess.begin(), guess.end(), [](std::byte b) { return b != std::byte{}; }),
            3 * 1024 / 8);
}

TEST(Residual, CorrectionsConvergeToWhatTheStepMakesTheStateOf) {
  std::vector<store::Field> all(1);
  all[0].type = ANADROME_FLOAT64;
  all[0].count = 2;
  const auto step = [](double x) { return x + 0.2 * std::sin(x); };
  const double start[] = {0.7, -3}, end[] = {step(start[0]), step(start[1])};
  std::vector<double> p(std::begin(end), std::end(end));
  for (int i = 0; i < 40; ++i) {
    const double image[] = {step(p[0]), step(p[1])};
    correct(all, std::as_bytes(std::span(end)), std::as_bytes(std::span(image)),
            std::as_writable_bytes(std::span(p)));
  }
  EXPECT_NEAR(p[0], start[0], 1e-14);
  EXPECT_NEAR(p[1], start[1], 1e-14);
}

TEST(Drift, IsRelativeToTheLargestNumberOfItsField) {
  std::vector<store::Field> all(2);
  for (store::Field& field : all) {
    field.type = ANADROME_FLOAT64;
    field.count = 2;
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const State exact = of(std::vector<double>{100, -1, 1e-3, nan});
  std::vector<double> largest(2);
  const auto drift = [&](const State& other, double tolerance) {
    return drift_of(all, exact, other, tolerance, largest);
  };
  EXPECT_EQ(drift(exact, 0).most, 0);
  EXPECT_TRUE(drift(exact, 0).within);
  const State other = of(std::vector<double>{101, -1, 1e-3, nan});
  EXPECT_DOUBLE_EQ(drift(other, 0.02).most, 0.01);
  EXPECT_TRUE(drift(other, 0.02).within);
  EXPECT_FALSE(drift(other, 0.005).within);
  all[0].tolerance = 2;  // an absolute one of its own
  EXPECT_TRUE(drift(other, 0.005).within);
  EXPECT_FALSE(drift(of(std::vector<double>{101, -1, 1e-3, 0}), 1).within);
  all[0].tolerance = -1;
  largest[0] = 1000;  // of a state before
  EXPECT_DOUBLE_EQ(drift(other, 1).most, 0.001);
}

}  // namespace
}  // namespace anadrome::engine

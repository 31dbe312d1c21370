// SPDX-License-Identifier: BSD-2-Clause
#include "engine/fingerprint.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace anadrome::engine {
namespace {

constexpr std::size_t kBlock = 2048;             // values: they stay in the nearest cache
constexpr std::size_t kShifts = 64, kShift = 8;  // blocks begin at different weights
constexpr std::size_t kLanes = 16;               // sums that go on side by side
constexpr double kMeanSquare = 13.0 / 12;        // of a weight
using Weights = std::array<double, kBlock + 2 * kShifts * kShift>;

// Of either sign, from 1/2 to 3/2.
Weights make_weights() {
  Weights weights;
  std::uint64_t bits = 0x9e3779b97f4a7c15;
  for (double& weight : weights) {
    bits = bits * 6364136223846793005 + 1442695040888963407;
    const double unit = static_cast<double>(bits >> 11) / 9007199254740992.0;  // [0, 1)
    weight = (unit < 0.5 ? -1.0 : 1.0) * (0.5 + unit);
  }
  return weights;
}

template <class Real>
void add(Fingerprint& print, const Real* values, std::size_t count) {
  static const Weights weights = make_weights();
  std::array<double, kLanes> square{}, first{}, second{};
  for (std::size_t begin = 0, block = 0; begin < count; begin += kBlock, ++block) {
    const double* const one = weights.data() + block * 37 % kShifts * kShift;
    const double* const two = one + kShifts * kShift;
    const Real* const from = values + begin;
    const std::size_t many = std::min(kBlock, count - begin);
    std::size_t i = 0;
    const auto add_one = [&](std::size_t at, std::size_t lane) {
      const auto value = static_cast<double>(from[at]);
      square[lane] += value * value;
      first[lane] += value * one[at];
      second[lane] += value * two[at];
    };
    for (; i + kLanes <= many; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) add_one(i + lane, lane);
    }
    for (std::size_t lane = 0; i < many; ++i, ++lane) add_one(i, lane);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    print.square += square[lane];
    print.sums[0] += first[lane];
    print.sums[1] += second[lane];
  }
}

}  // namespace

Fingerprint fingerprint(const void* bytes, std::int64_t count) {
  Fingerprint print;
  print.hash = XXH3_64bits(bytes, static_cast<std::size_t>(count));
  return print;
}

Fingerprint fingerprint(anadrome_type type, const void* values, std::int64_t count) {
  const auto many = static_cast<std::size_t>(count);
  switch (type) {
    case ANADROME_FLOAT32:
    case ANADROME_COMPLEX64: {
      const std::size_t reals = type == ANADROME_COMPLEX64 ? 2 * many : many;
      Fingerprint print = fingerprint(values, static_cast<std::int64_t>(reals * sizeof(float)));
      add(print, static_cast<const float*>(values), reals);
      return print;
    }
    case ANADROME_FLOAT64:
    case ANADROME_COMPLEX128: {
      const std::size_t reals = type == ANADROME_COMPLEX128 ? 2 * many : many;
      Fingerprint print = fingerprint(values, static_cast<std::int64_t>(reals * sizeof(double)));
      add(print, static_cast<const double*>(values), reals);
      return print;
    }
    case ANADROME_INT32:
      return fingerprint(values, count * 4);
    case ANADROME_INT64:
      return fingerprint(values, count * 8);
    default:
      return fingerprint(values, count);
  }
}

double distance(const Fingerprint& first, const Fingerprint& again) {
  if (first.hash == again.hash) return 0;
  const double one = first.sums[0] - again.sums[0], two = first.sums[1] - again.sums[1];
  const double mean = std::sqrt((one * one + two * two) / (2 * kMeanSquare));
  // Bits may differ where numbers do not: a zero's sign, or what is no number.
  return std::isfinite(mean) ? std::max(mean, std::numeric_limits<double>::min())
                             : std::numeric_limits<double>::infinity();
}

double rounding_of_step(anadrome_type type) {
  if (type == ANADROME_FLOAT64 || type == ANADROME_COMPLEX128) return 1e-12;
  if (type == ANADROME_FLOAT32 || type == ANADROME_COMPLEX64) return 1e-5;
  return 0;
}

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
#include "store/rounding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace anadrome::store {
namespace {

// Bytes need not lie as numbers must.
template <class Real>
Real real_at(const std::byte* bytes, std::size_t i) {
  Real value;
  std::memcpy(&value, bytes + i * sizeof value, sizeof value);
  return value;
}
template <class Real>
void put_real(std::byte* bytes, std::size_t i, Real value) {
  std::memcpy(bytes + i * sizeof value, &value, sizeof value);
}

template <class Real>
double largest(std::span<const std::byte> numbers) {
  Real most = 0;
  for (std::size_t i = 0; i < numbers.size() / sizeof most; ++i) {
    const Real value = std::abs(real_at<Real>(numbers.data(), i));
    if (value > most && value <= std::numeric_limits<Real>::max()) most = value;
  }
  return static_cast<double>(most);
}

// The exponent of the power of two; none finer than this is a number of full precision.
template <class Real>
constexpr int kLeast = std::numeric_limits<Real>::min_exponent + std::numeric_limits<Real>::digits;

template <class Real>
int exponent_of(double tolerance) {
  constexpr int kMost = std::numeric_limits<Real>::max_exponent / 2;
  return std::min(std::ilogb(2 * tolerance), kMost);
}

// What is added makes the last bit that is left a multiple of the power of two.
template <class Real>
void round(double tolerance, std::span<std::byte> numbers) {
  constexpr int kDigits = std::numeric_limits<Real>::digits;
  const int exponent = exponent_of<Real>(tolerance);
  const Real added = std::ldexp(Real{3}, exponent + kDigits - 2);
  const Real limit = std::ldexp(Real{1}, exponent + kDigits - 2);
  for (std::size_t i = 0; i < numbers.size() / sizeof added; ++i) {
    const Real value = real_at<Real>(numbers.data(), i);
    const Real rounded = (value + added) - added;
    put_real(numbers.data(), i, std::abs(value) < limit ? rounded : value);
  }
}

template <class Real>
bool within(double tolerance, std::span<const std::byte> some, std::span<const std::byte> others) {
  bool all = true;
  for (std::size_t i = 0; i < some.size() / sizeof(Real); ++i) {
    const Real a = real_at<Real>(some.data(), i), b = real_at<Real>(others.data(), i);
    const bool close = std::abs(static_cast<double>(a) - static_cast<double>(b)) <= tolerance;
    all = all && (close || a == b || (a != a && b != b));
  }
  return all;
}

}  // namespace

double largest_magnitude(std::span<const std::byte> numbers, std::int64_t bytes) {
  return bytes == 4 ? largest<float>(numbers) : largest<double>(numbers);
}

bool can_round(double tolerance, std::int64_t bytes) {
  if (!(tolerance > 0)) return false;
  return bytes == 4 ? exponent_of<float>(tolerance) >= kLeast<float>
                    : exponent_of<double>(tolerance) >= kLeast<double>;
}

void round_to(double tolerance, std::span<std::byte> numbers, std::int64_t bytes) {
  if (bytes == 4) return round<float>(tolerance, numbers);
  round<double>(tolerance, numbers);
}

bool are_within(double tolerance, std::span<const std::byte> some,
                std::span<const std::byte> others, std::int64_t bytes) {
  return bytes == 4 ? within<float>(tolerance, some, others)
                    : within<double>(tolerance, some, others);
}

// Without a branch: as fast as a copy.
bool to_floats(std::span<const std::byte> doubles, std::byte* floats) {
  unsigned unfit = 0;
  for (std::size_t i = 0; i < doubles.size() / sizeof(double); ++i) {
    const auto value = real_at<double>(doubles.data(), i);
    const auto single = static_cast<float>(value);
    put_real(floats, i, single);
    unfit |= static_cast<unsigned>(std::abs(single) > std::numeric_limits<float>::max()) &
             static_cast<unsigned>(std::abs(value) <= std::numeric_limits<double>::max());
  }
  return unfit == 0;
}

void to_doubles(std::span<const std::byte> floats, std::byte* doubles) {
  for (std::size_t i = floats.size() / sizeof(float); i-- > 0;)
    put_real(doubles, i, static_cast<double>(real_at<float>(floats.data(), i)));
}

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "store/moving/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/index.h"

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

// The largest magnitude below `limit`.
template <class Real>
Real largest(std::span<const std::byte> numbers, Real limit) {
  Real most = 0;
  for (std::size_t i = 0; i < numbers.size() / sizeof most; ++i) {
    const Real value = std::abs(real_at<Real>(numbers.data(), i));
    if (value > most && value < limit) most = value;
  }
  return most;
}

template <class Real>
bool any_between(std::span<const std::byte> numbers, Real least, Real most) {
  bool any = false;
  for (std::size_t i = 0; i < numbers.size() / sizeof most; ++i) {
    const Real value = std::abs(real_at<Real>(numbers.data(), i));
    any = any || (value >= least && value < most);
  }
  return any;
}

// How many numbers have each exponent, as their bits have it: the first one of zeros and the
// smallest numbers, the last one of what is not finite.
template <class Real>
constexpr int kExponents = 2 * std::numeric_limits<Real>::max_exponent;
template <class Real>
std::vector<std::int64_t> exponents_of(std::span<const std::byte> numbers) {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  constexpr int kMantissa = std::numeric_limits<Real>::digits - 1;
  std::vector<std::int64_t> many(size(kExponents<Real>));
  for (std::size_t i = 0; i < numbers.size() / sizeof(Real); ++i) {
    const auto bits = std::bit_cast<Bits>(real_at<Real>(numbers.data(), i));
    ++many[(bits >> kMantissa) & (many.size() - 1)];
  }
  return many;
}

// From the top, one group of numbers after the other that a gap separates from those below it.
template <class Real>
Magnitudes magnitudes(std::span<const std::byte> numbers) {
  constexpr std::int64_t kFew = 64;
  constexpr int kGap = 3;
  const std::vector<std::int64_t> many = exponents_of<Real>(numbers);
  const auto count = [&](int exponent) { return many[size(exponent)]; };
  const std::int64_t all = std::accumulate(many.begin() + 1, many.end() - 1, std::int64_t{0});
  Magnitudes found;
  Real limit = std::numeric_limits<Real>::infinity();
  for (int top = kExponents<Real> - 2;;) {
    while (top > 0 && count(top) == 0) --top;
    int bottom = top, next = top;
    std::int64_t group = 0;
    for (; next > 0 && bottom - next <= kGap; --next) {
      if (count(next) > 0) bottom = next;
      group += count(next);
    }
    while (next > 0 && count(next) == 0) --next;
    const Real most = largest<Real>(numbers, limit);
    found.usual = static_cast<double>(most);
    const Real least = std::ldexp(Real{1}, bottom - std::numeric_limits<Real>::max_exponent + 1);
    const bool same = top > 0 && bottom == top && !any_between<Real>(numbers, least, most);
    if (next == 0 && same) found.outliers = static_cast<double>(least);  // a rank of fill values
    if (next == 0) return found;                                         // nothing is below
    if (group * kFew > all && !same) return found;
    const bool fills = same && group > 1 && found.fills == found.outliers;
    found.outliers = static_cast<double>(least);
    if (fills) found.fills = found.outliers;
    limit = least;
    top = next;
  }
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
void round(double tolerance, std::span<std::byte> numbers, double outliers) {
  constexpr int kDigits = std::numeric_limits<Real>::digits;
  const int exponent = exponent_of<Real>(tolerance);
  const Real added = std::ldexp(Real{3}, exponent + kDigits - 2);
  const auto limit =
      static_cast<Real>(std::min<double>(std::ldexp(Real{1}, exponent + kDigits - 2), outliers));
  for (std::size_t i = 0; i < numbers.size() / sizeof added; ++i) {
    const Real value = real_at<Real>(numbers.data(), i);
    const Real rounded = (value + added) - added;
    put_real(numbers.data(), i, std::abs(value) < limit ? rounded : value);
  }
}

template <class Real>
bool within(double tolerance, std::span<const std::byte> some, std::span<const std::byte> others,
            double outliers) {
  bool all = true;
  for (std::size_t i = 0; i < some.size() / sizeof(Real); ++i) {
    const Real a = real_at<Real>(some.data(), i), b = real_at<Real>(others.data(), i);
    const bool close = std::abs(static_cast<double>(a) - static_cast<double>(b)) <= tolerance &&
                       std::abs(static_cast<double>(a)) < outliers;
    all = all && (close || a == b || (a != a && b != b));
  }
  return all;
}

}  // namespace

Magnitudes magnitudes_of(std::span<const std::byte> numbers, std::int64_t bytes) {
  return bytes == 4 ? magnitudes<float>(numbers) : magnitudes<double>(numbers);
}

bool can_round(double tolerance, std::int64_t bytes) {
  if (!(tolerance > 0)) return false;
  return bytes == 4 ? exponent_of<float>(tolerance) >= kLeast<float>
                    : exponent_of<double>(tolerance) >= kLeast<double>;
}

void round_to(double tolerance, std::span<std::byte> numbers, std::int64_t bytes, double outliers) {
  if (bytes == 4) return round<float>(tolerance, numbers, outliers);
  round<double>(tolerance, numbers, outliers);
}

bool are_within(double tolerance, std::span<const std::byte> some,
                std::span<const std::byte> others, std::int64_t bytes, double outliers) {
  return bytes == 4 ? within<float>(tolerance, some, others, outliers)
                    : within<double>(tolerance, some, others, outliers);
}

// Without a branch: as fast as a copy.
bool to_floats(std::span<const std::byte> doubles, std::byte* floats, double tolerance,
               double outliers) {
  unsigned unfit = 0;
  for (std::size_t i = 0; i < doubles.size() / sizeof(double); ++i) {
    const auto value = real_at<double>(doubles.data(), i);
    const auto single = static_cast<float>(value);
    put_real(floats, i, single);
    unfit |= static_cast<unsigned>(std::abs(single) > std::numeric_limits<float>::max()) &
             static_cast<unsigned>(std::abs(value) <= std::numeric_limits<double>::max());
    const double off = std::abs(static_cast<double>(single) - value);
    unfit |= static_cast<unsigned>(std::abs(value) >= outliers) & static_cast<unsigned>(off > 0);
    unfit |= static_cast<unsigned>(off > tolerance);
  }
  return unfit == 0;
}

void to_doubles(std::span<const std::byte> floats, std::byte* doubles) {
  for (std::size_t i = floats.size() / sizeof(float); i-- > 0;)
    put_real(doubles, i, static_cast<double>(real_at<float>(floats.data(), i)));
}

}  // namespace anadrome::store

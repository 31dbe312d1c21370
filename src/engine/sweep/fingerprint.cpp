// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/fingerprint.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/index.h"
#include "store/memory/block_layout.h"

namespace anadrome::engine {
namespace {

// The numbers of a type, as integers: sign, exponent, and `kMantissa` bits.
template <class Bits, int kMantissaBits>
struct Reals {
  using Integer = Bits;
  static constexpr int kMantissa = kMantissaBits;
  static constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  static constexpr Bits kOne = Bits{1} << kMantissa;  // between two powers of two
  static constexpr Bits kInfinity = kSign - kOne;
  static Bits at(const void* values, std::size_t i) {
    Bits bits;
    std::memcpy(&bits, static_cast<const std::byte*>(values) + i * sizeof bits, sizeof bits);
    return bits;
  }
};
using Singles = Reals<std::uint32_t, 23>;
using Doubles = Reals<std::uint64_t, 52>;

// Below the floor places are as far apart as the numbers are.
template <class Real>
std::int64_t place_below(typename Real::Integer magnitude, int floor) {
  const int exponent = std::max(static_cast<int>(magnitude >> Real::kMantissa), 1);
  const int shift = floor - exponent;
  if (shift > Real::kMantissa) return 0;
  const typename Real::Integer digits =
      (magnitude & (Real::kOne - 1)) | (magnitude >= Real::kOne ? Real::kOne : 0);
  return static_cast<std::int64_t>(digits >> shift);
}

// All NaNs share one place, beyond the infinite numbers.
template <class Real>
std::int64_t place_of(typename Real::Integer bits, int floor) {
  const auto magnitude = std::min<typename Real::Integer>(bits & ~Real::kSign, Real::kInfinity + 1);
  const std::int64_t begin = static_cast<std::int64_t>(floor - 1) << Real::kMantissa;
  const std::int64_t above = static_cast<std::int64_t>(magnitude) - begin;
  const std::int64_t place =
      above >= static_cast<std::int64_t>(Real::kOne) ? above : place_below<Real>(magnitude, floor);
  return (bits & Real::kSign) != 0 ? -place : place;
}

// Where one number in 64 is smaller, two powers of two lower: of numbers spread evenly around
// zero, one in 256 is.
template <class Real>
int floor_of(const void* values, std::size_t count) {
  constexpr std::size_t kLooked = 4096, kTail = 64;
  constexpr int kLower = 2;
  std::array<std::uint16_t,
             std::size_t{1} << (8 * sizeof(typename Real::Integer) - 1 - Real::kMantissa)>
      many{};
  const std::size_t looked = std::min(count, kLooked);
  std::size_t all = 0;
  for (std::size_t i = 0; i < looked; ++i) {  // each from a part of its own, anywhere in it
    const std::size_t begin = i * count / looked, end = (i + 1) * count / looked;
    const std::size_t anywhere = (i * 0x9e3779b97f4a7c15) >> 33;
    const auto magnitude = Real::at(values, begin + anywhere % (end - begin)) & ~Real::kSign;
    if (magnitude == 0 || magnitude >= Real::kInfinity) continue;
    ++many[magnitude >> Real::kMantissa];
    ++all;
  }
  std::size_t below = 0, exponent = 0;
  while (exponent + 1 < many.size() && (below += many[exponent]) * kTail <= all) ++exponent;
  return all == 0 ? 1 : std::max(static_cast<int>(exponent) - kLower, 1);
}

// Places are added up in so many sums side by side, each block of numbers from another one on and
// with another sign, so that errors do not cancel; these are weighted in the end.
constexpr std::size_t kGroup = 16, kBlock = 256, kShifts = 32;
constexpr std::size_t kSums = kBlock + kShifts * kGroup;
using Sums = std::array<std::uint64_t, kSums>;

std::uint64_t next_random(std::uint64_t& bits) {
  bits = bits * 6364136223846793005 + 1442695040888963407;
  return bits >> 33;
}

// Of either sign, from half of kWeight to 3/2 of it. What is 2^32 times as large makes the sums
// pass through all integers: it is far apart, but nobody knows how far.
constexpr std::int64_t kWeight = 64;
constexpr double kMeanSquare = 13.0 / 12 * kWeight * kWeight;
std::int64_t next_weight(std::uint64_t& bits) {
  const auto drawn = static_cast<std::int64_t>(next_random(bits));
  const std::int64_t weight = kWeight / 2 + (drawn % kWeight | 1);
  return (drawn / kWeight & 1) != 0 ? -weight : weight;
}

// As many numbers as a group has, zeros or above the floor. Without a branch: several at a time.
// True: some are neither.
template <class Real>
bool add_group(const typename Real::Integer* __restrict numbers, int floor, std::uint64_t sign,
               std::uint64_t* __restrict sums) {
  const std::uint64_t least = std::uint64_t(floor) << Real::kMantissa, begin = least - Real::kOne;
  constexpr std::uint64_t kMost = Real::kInfinity;
  std::uint64_t outside = 0;
  for (std::size_t i = 0; i < kGroup; ++i) {
    const std::uint64_t magnitude = numbers[i] & ~Real::kSign;
    const std::uint64_t negative =
        sign ^ (0 - (std::uint64_t{numbers[i]} >> (8 * sizeof(numbers[i]) - 1)));
    const std::uint64_t unless_0 = 0 - ((0 - magnitude) >> 63);
    outside |= ((magnitude - least) & unless_0) | (kMost - magnitude);
    sums[i] += (((magnitude - begin) & unless_0) ^ negative) - negative;
  }
  return outside >> 63 != 0;
}

// In place of what add_group added.
template <class Real>
void mend_group(const typename Real::Integer* numbers, int floor, std::uint64_t sign,
                std::uint64_t* sums) {
  const std::uint64_t least = std::uint64_t(floor) << Real::kMantissa, begin = least - Real::kOne;
  for (std::size_t i = 0; i < kGroup; ++i) {
    const std::uint64_t magnitude = numbers[i] & ~Real::kSign;
    const bool is_added = magnitude == 0 || (magnitude >= least && magnitude <= Real::kInfinity);
    if (is_added) continue;
    const std::uint64_t right =
        static_cast<std::uint64_t>(place_of<Real>(numbers[i] & ~Real::kSign, floor));
    const std::uint64_t negative = sign ^ (numbers[i] > (Real::kSign - 1) ? ~std::uint64_t{0} : 0);
    sums[i] += ((right - (magnitude - begin)) ^ negative) - negative;
  }
}

template <class Real>
void add(Fingerprint& print, const void* values, std::size_t count) {
  Sums sums{};
  std::uint64_t random = 0x9e3779b97f4a7c15, sign = 0;
  std::size_t shift = 0;
  for (std::size_t begin = 0; begin < count; begin += kGroup) {
    if (begin % kBlock == 0) {
      const std::uint64_t drawn = next_random(random);
      shift = drawn % kShifts * kGroup;
      sign = (drawn >> 16 & 1) != 0 ? ~std::uint64_t{0} : 0;
    }
    std::array<typename Real::Integer, kGroup> numbers;
    const std::size_t many = std::min(kGroup, count - begin);
    if (many < kGroup) numbers.fill(0);
    std::memcpy(numbers.data(), static_cast<const std::byte*>(values) + begin * sizeof numbers[0],
                many * sizeof numbers[0]);
    std::uint64_t* const here = sums.data() + shift + begin % kBlock;
    if (add_group<Real>(numbers.data(), print.floor, sign, here))
      mend_group<Real>(numbers.data(), print.floor, sign, here);
  }
  for (const std::uint64_t sum : sums) {
    for (std::uint64_t& all : print.sums)
      all += sum * static_cast<std::uint64_t>(next_weight(random));
  }
}

template <class Real>
void add_reals(Fingerprint& print, const void* values, const Fingerprint* first) {
  const auto count = size(print.reals);
  print.floor = first != nullptr ? first->floor : floor_of<Real>(values, count);
  add<Real>(print, values, count);
}

// In units of a place; how many of these are a relative difference of 1.
double relative(anadrome_type type, double places) {
  const int mantissa = store::real_bytes(type) == 4 ? Singles::kMantissa : Doubles::kMantissa;
  return std::ldexp(places, -mantissa);
}

double size_of(std::uint64_t difference) {
  return std::abs(static_cast<double>(static_cast<std::int64_t>(difference)));
}

template <class Real>
double most_apart(const void* values, const void* others, std::size_t count, int floor) {
  double most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto one = Real::at(values, i), other = Real::at(others, i);
    if (one == other) continue;
    // Halves: the places of two numbers may be as far apart as integers are.
    const std::int64_t half =
        (place_of<Real>(one, floor) >> 1) - (place_of<Real>(other, floor) >> 1);
    most = std::max(most, 2 * std::abs(static_cast<double>(half)));
  }
  return most;
}

}  // namespace

Fingerprint fingerprint(const void* bytes, std::int64_t count) {
  Fingerprint print;
  print.hash = XXH3_64bits(bytes, size(count));
  return print;
}

Fingerprint fingerprint(anadrome_type type, const void* values, std::int64_t count,
                        const Fingerprint* first) {
  const std::int64_t bytes = count * store::element_bytes(type);
  Fingerprint print = fingerprint(values, bytes);
  const std::int64_t real = store::real_bytes(type);
  if (real == 0) return print;
  print.reals = bytes / real;
  if (first != nullptr && first->hash == print.hash) {
    print = *first;
  } else if (real == 4) {
    add_reals<Singles>(print, values, first);
  } else {
    add_reals<Doubles>(print, values, first);
  }
  return print;
}

double distance(anadrome_type type, const Fingerprint& first, const Fingerprint& again) {
  if (first.hash == again.hash) return 0;
  if (first.reals == 0) return std::numeric_limits<double>::infinity();
  const double one = size_of(first.sums[0] - again.sums[0]);
  const double two = size_of(first.sums[1] - again.sums[1]);
  const double mean = (one * one + two * two) / (2 * kMeanSquare);
  return relative(type, std::sqrt(mean / static_cast<double>(first.reals)));
}

Apart apart(anadrome_type type, const void* values, const void* others, std::int64_t count,
            const Fingerprint& first) {
  const std::int64_t element = store::element_bytes(type), real = store::real_bytes(type);
  const auto* const one = static_cast<const std::byte*>(values);
  const auto* const end = one + count * element;
  const std::byte* const found =
      std::mismatch(one, end, static_cast<const std::byte*>(others)).first;
  if (found == end) return {};
  Apart far{(found - one) / element, std::numeric_limits<double>::infinity()};
  if (real == 0) return far;
  const auto reals = size(count * element / real);
  far.most = relative(type, real == 4 ? most_apart<Singles>(values, others, reals, first.floor)
                                      : most_apart<Doubles>(values, others, reals, first.floor));
  return far;
}

double rounding_of_step(anadrome_type type) {
  const std::int64_t real = store::real_bytes(type);
  return real == 0 ? 0 : real == 8 ? 1e-12 : 1e-5;
}

}  // namespace anadrome::engine

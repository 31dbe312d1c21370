// SPDX-License-Identifier: BSD-2-Clause
#include "sketch/draws.h"

#include <cmath>
#include <numbers>

namespace anadrome::sketch {
namespace {

// What is drawn for a step besides something for each array.
enum Others : std::int64_t { kBucket = -1, kNote = -2 };

// The finaliser of SplitMix64 (Steele, Lea & Flood 2014, OOPSLA), one to one.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

struct Bits {
  std::uint64_t seed;

  std::uint64_t operator()(std::int64_t step, std::int64_t what) const {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
    std::uint64_t z = mix(seed + kGolden);
    z = mix(z + kGolden * (static_cast<std::uint64_t>(step) + 1));
    return mix(z + kGolden * (static_cast<std::uint64_t>(what) + 1));
  }
};

std::int64_t below(std::int64_t end, std::uint64_t bits) {
  __extension__ using uint128 = unsigned __int128;
  return static_cast<std::int64_t>((static_cast<uint128>(bits) * static_cast<uint128>(end)) >> 64);
}

// Box and Muller 1958: two uniform numbers, above 0 and up to 1, make a normal one.
double normal(std::uint64_t first, std::uint64_t second) {
  const auto uniform = [](std::uint64_t bits) {
    return std::ldexp(static_cast<double>((bits >> 11) + 1), -53);
  };
  return std::sqrt(-2.0 * std::log(uniform(first))) *
         std::cos(2.0 * std::numbers::pi * uniform(second));
}

}  // namespace

Draws draw(anadrome_sketch_kind kind, std::int64_t seed) {
  const Bits bits{static_cast<std::uint64_t>(seed)};
  Draws draws;
  draws.bucket = [bits](std::int64_t step, std::int64_t arrays) {
    return below(arrays, bits(step, kBucket));
  };
  draws.weight = [bits](std::int64_t step, std::int64_t array) {
    return (bits(step, array) & 1) != 0 ? 1.0 : -1.0;
  };
  if (kind == ANADROME_SKETCH_GAUSSIAN) {
    draws.weight = [bits](std::int64_t step, std::int64_t array) {
      return normal(bits(step, 2 * array), bits(step, 2 * array + 1));
    };
  }
  draws.ticket = bits;
  // Of kind COUNT one step in sixteen: noting a step costs more than correlating it.
  const std::uint64_t one_in = kind == ANADROME_SKETCH_COUNT ? 16 : 1;
  draws.note = [bits, one_in](std::int64_t step) {
    const std::uint64_t drawn = bits(step, kNote);
    if ((drawn >> 1) % one_in != 0) return 0.0;
    const double size = std::sqrt(static_cast<double>(one_in));
    return (drawn & 1) != 0 ? size : -size;
  };
  return draws;
}

}  // namespace anadrome::sketch

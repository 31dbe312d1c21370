// SPDX-License-Identifier: BSD-2-Clause
#include "sketch/draws.h"

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

}  // namespace

Draws draw(std::int64_t seed) {
  const Bits bits{static_cast<std::uint64_t>(seed)};
  Draws draws;
  draws.bucket = [bits](std::int64_t step, std::int64_t arrays) {
    return below(arrays, bits(step, kBucket));
  };
  draws.sign = [bits](std::int64_t step) { return (bits(step, 0) & 1) != 0 ? 1.0 : -1.0; };
  draws.ticket = bits;
  // One step in sixteen: noting a step costs more than correlating it.
  draws.note = [bits](std::int64_t step) {
    constexpr std::uint64_t kOneIn = 16;
    const std::uint64_t drawn = bits(step, kNote);
    if ((drawn >> 1) % kOneIn != 0) return 0.0;
    return (drawn & 1) != 0 ? 4.0 : -4.0;
  };
  return draws;
}

}  // namespace anadrome::sketch

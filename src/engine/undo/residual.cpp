// SPDX-License-Identifier: BSD-2-Clause
#include "engine/undo/residual.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/index.h"

namespace anadrome::engine {
namespace {

constexpr unsigned kGroup = 64;          // numbers whose bits make one word of each plane
constexpr std::size_t kMostGroups = 64;  // of a stretch: its planes follow each other
constexpr unsigned kBitsOfByte = 8, kByte = 0xff;

template <class Word>
Word load(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}
template <class Word>
void store_word(std::byte* at, Word word) {
  std::memcpy(at, &word, sizeof word);
}

// Reals in their order as integers without a sign, and back: the magnitude of negative ones is
// turned round.
template <class Word>
Word ordered(Word bits, bool real) {
  constexpr Word kSign = Word{1} << (std::numeric_limits<Word>::digits - 1);
  return real && (bits & kSign) != 0 ? bits ^ (kSign - 1) : bits;
}

template <class Word>
Word with_sign_below(Word difference) {
  const Word negative = difference >> (std::numeric_limits<Word>::digits - 1);
  return (difference << 1) ^ (Word{0} - negative);
}
template <class Word>
Word with_sign_above(Word word) {
  return (word >> 1) ^ (Word{0} - (word & 1));
}

// Bit j of byte i becomes bit i of byte j (Warren, Hacker's Delight, 7-3).
std::uint64_t transposed(std::uint64_t x) {
  std::uint64_t t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AA;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCC;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0;
  return x ^ t ^ (t << 28);
}

// Byte j of word i becomes byte i of word j.
using Bytes = std::array<std::uint64_t, kBitsOfByte>;
Bytes turned(const Bytes& words) {
  Bytes to{};
  for (unsigned i = 0; i < kBitsOfByte; ++i) {
    for (unsigned j = 0; j < kBitsOfByte; ++j) {
      to[j] |= ((words[i] >> (kBitsOfByte * j)) & kByte) << (kBitsOfByte * i);
    }
  }
  return to;
}

// A stretch of at most kMostGroups groups, and its planes.
template <class Word>
class Stretch {
 public:
  explicit Stretch(std::size_t groups) : groups_(groups) {}

  /// Differences of `groups` groups -> planes at `to`. Returns the bits of those that are not zero.
  std::int64_t to_planes(const Word* words, std::byte* to) const {
    std::int64_t bits = 0;
    for (std::size_t group = 0; group < groups_; ++group, words += kGroup) {
      Word any = 0;
      for (std::size_t i = 0; i < kGroup; ++i) any |= words[i];
      bits += std::int64_t{kGroup} * std::bit_width(any);
      for (unsigned byte = 0; byte < sizeof(Word); ++byte) {
        Bytes planes{};
        if (((any >> (kBitsOfByte * byte)) & kByte) != 0) {
          for (std::size_t i = 0; i < kGroup; ++i) {
            const std::uint64_t part = (words[i] >> (kBitsOfByte * byte)) & kByte;
            planes[i / kBitsOfByte] |= part << (kBitsOfByte * (i % kBitsOfByte));
          }
          for (std::uint64_t& eight : planes) eight = transposed(eight);
          planes = turned(planes);
        }
        for (unsigned bit = 0; bit < kBitsOfByte; ++bit) {
          store_word(place(to, byte, bit, group), planes[bit]);
        }
      }
    }
    return bits;
  }

  void from_planes(const std::byte* from, Word* words) const {
    for (std::size_t group = 0; group < groups_; ++group, words += kGroup) {
      std::fill_n(words, kGroup, Word{0});
      for (unsigned byte = 0; byte < sizeof(Word); ++byte) {
        Bytes planes;
        std::uint64_t any = 0;
        for (unsigned bit = 0; bit < kBitsOfByte; ++bit) {
          any |= planes[bit] = load<std::uint64_t>(place(from, byte, bit, group));
        }
        if (any == 0) continue;
        planes = turned(planes);
        for (std::uint64_t& eight : planes) eight = transposed(eight);
        for (std::size_t i = 0; i < kGroup; ++i) {
          const auto part = static_cast<Word>(
              (planes[i / kBitsOfByte] >> (kBitsOfByte * (i % kBitsOfByte))) & kByte);
          words[i] |= part << (kBitsOfByte * byte);
        }
      }
    }
  }

 private:
  template <class Byte>
  Byte* place(Byte* planes, unsigned byte, unsigned bit, std::size_t group) const {
    return planes + sizeof(std::uint64_t) * ((byte * kBitsOfByte + bit) * groups_ + group);
  }

  std::size_t groups_;
};

// Numbers that fill no group stay where they are, as bytes that fill no number do.
template <class Word, class Whole, class Rest>
void each_stretch(std::size_t bytes, const Whole& whole, const Rest& rest) {
  const std::size_t numbers = bytes / sizeof(Word), groups = numbers / kGroup;
  for (std::size_t first = 0; first < groups; first += kMostGroups) {
    whole(first * kGroup * sizeof(Word), std::min(kMostGroups, groups - first));
  }
  rest(groups * kGroup * sizeof(Word), numbers * sizeof(Word));
}

template <class Word>
std::int64_t take_part(std::span<const std::byte> exact, std::span<std::byte> guess, bool real) {
  std::array<Word, kGroup * kMostGroups> words;
  std::int64_t bits = 0;
  const auto difference = [&](std::size_t at) {
    return with_sign_below<Word>(ordered(load<Word>(&exact[at]), real) -
                                 ordered(load<Word>(&guess[at]), real));
  };
  each_stretch<Word>(
      guess.size(),
      [&](std::size_t first, std::size_t groups) {
        for (std::size_t i = 0; i < groups * kGroup; ++i) {
          words[i] = difference(first + i * sizeof(Word));
        }
        bits += Stretch<Word>(groups).to_planes(words.data(), &guess[first]);
      },
      [&](std::size_t first, std::size_t last) {
        for (std::size_t at = first; at < last; at += sizeof(Word)) {
          const Word word = difference(at);
          bits += std::bit_width(word);
          store_word(&guess[at], word);
        }
        for (std::size_t at = last; at < guess.size(); ++at) guess[at] ^= exact[at];
      });
  return bits;
}

template <class Word>
void add_part(std::span<const std::byte> guess, std::span<std::byte> residual, bool real) {
  std::array<Word, kGroup * kMostGroups> words;
  const auto put = [&](std::size_t at, Word word) {
    const Word sum = ordered(load<Word>(&guess[at]), real) + with_sign_above(word);
    store_word(&residual[at], ordered(sum, real));
  };
  each_stretch<Word>(
      residual.size(),
      [&](std::size_t first, std::size_t groups) {
        Stretch<Word>(groups).from_planes(&residual[first], words.data());
        for (std::size_t i = 0; i < groups * kGroup; ++i) put(first + i * sizeof(Word), words[i]);
      },
      [&](std::size_t first, std::size_t last) {
        for (std::size_t at = first; at < last; at += sizeof(Word)) {
          put(at, load<Word>(&residual[at]));
        }
        for (std::size_t at = last; at < residual.size(); ++at) residual[at] ^= guess[at];
      });
}

template <class Number>
void correct_part(std::span<const std::byte> exact, std::span<const std::byte> image,
                  std::span<std::byte> guess) {
  for (std::size_t at = 0; at < guess.size(); at += sizeof(Number)) {
    const auto wanted = load<Number>(&exact[at]);
    const Number better = load<Number>(&guess[at]) + (wanted - load<Number>(&image[at]));
    store_word(&guess[at], std::isfinite(better) ? better : wanted);
  }
}

struct Change {
  double magnitude = 0, most = 0;
};

template <class Number>
Change change_of_part(std::span<const std::byte> exact, std::span<const std::byte> other) {
  Change change;
  for (std::size_t at = 0; at < exact.size(); at += sizeof(Number)) {
    const double here = load<Number>(&exact[at]), there = load<Number>(&other[at]);
    if (std::isfinite(here)) change.magnitude = std::max(change.magnitude, std::abs(here));
    const double apart = std::abs(here - there);
    if (std::isfinite(apart)) {
      change.most = std::max(change.most, apart);
    } else if (std::memcmp(&exact[at], &other[at], sizeof(Number)) != 0) {
      change.most = std::numeric_limits<double>::infinity();
    }
  }
  return change;
}

Change change_of(const store::Field& field, std::span<const std::byte> exact,
                 std::span<const std::byte> other) {
  switch (store::real_bytes(field.type)) {
    case sizeof(float):
      return change_of_part<float>(exact, other);
    case sizeof(double):
      return change_of_part<double>(exact, other);
    default:
      return {0, std::equal(exact.begin(), exact.end(), other.begin())
                     ? 0
                     : std::numeric_limits<double>::infinity()};
  }
}

}  // namespace

Residual::Residual(std::span<const store::Field> fields) {
  for (const store::Field& field : fields) {
    const std::int64_t real = store::real_bytes(field.type);
    const bool bytes = field.type == ANADROME_BYTE;
    const std::int64_t wide = sizeof(std::uint64_t);
    parts_.push_back({field.bytes(),
                      bytes      ? wide
                      : real > 0 ? real
                                 : store::element_bytes(field.type),
                      real > 0 || bytes});
  }
}

std::int64_t Residual::take(std::span<const std::byte> exact, std::span<std::byte> guess) const {
  std::int64_t bits = 0;
  for (std::size_t offset = 0; const Part& part : parts_) {
    const std::size_t bytes = size(part.bytes);
    const auto here = exact.subspan(offset, bytes);
    const auto there = guess.subspan(offset, bytes);
    bits += part.number_bytes == sizeof(std::uint64_t)
                ? take_part<std::uint64_t>(here, there, part.real)
                : take_part<std::uint32_t>(here, there, part.real);
    offset += bytes;
  }
  return bits;
}

void Residual::add(std::span<const std::byte> guess, std::span<std::byte> residual) const {
  for (std::size_t offset = 0; const Part& part : parts_) {
    const std::size_t bytes = size(part.bytes);
    const auto here = guess.subspan(offset, bytes);
    const auto there = residual.subspan(offset, bytes);
    if (part.number_bytes == sizeof(std::uint64_t)) {
      add_part<std::uint64_t>(here, there, part.real);
    } else {
      add_part<std::uint32_t>(here, there, part.real);
    }
    offset += bytes;
  }
}

void correct(std::span<const store::Field> fields, std::span<const std::byte> exact,
             std::span<const std::byte> image, std::span<std::byte> guess) {
  for (std::size_t offset = 0; const store::Field& field : fields) {
    const std::size_t bytes = size(field.bytes());
    const auto wanted = exact.subspan(offset, bytes);
    const auto there = guess.subspan(offset, bytes);
    switch (store::real_bytes(field.type)) {
      case sizeof(float):
        correct_part<float>(wanted, image.subspan(offset, bytes), there);
        break;
      case sizeof(double):
        correct_part<double>(wanted, image.subspan(offset, bytes), there);
        break;
      default:
        break;
    }
    offset += bytes;
  }
}

Drift drift_of(std::span<const store::Field> fields, std::span<const std::byte> exact,
               std::span<const std::byte> other, double tolerance, std::span<double> largest) {
  Drift drift;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t bytes = size(fields[i].bytes());
    const Change change =
        change_of(fields[i], exact.subspan(offset, bytes), other.subspan(offset, bytes));
    largest[i] = std::max(largest[i], change.magnitude);
    const double own = fields[i].tolerance;
    drift.within = drift.within && change.most <= (own >= 0 ? own : tolerance * largest[i]);
    if (change.most > 0) drift.most = std::max(drift.most, change.most / largest[i]);
    offset += bytes;
  }
  return drift;
}

}  // namespace anadrome::engine

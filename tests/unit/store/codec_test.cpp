// SPDX-License-Identifier: BSD-2-Clause
// Codecs and pieces of numbers: what comes back, by how much it may differ, and which are changed
// never; and which of several codecs a block gets. Blocks are in encoded_blocks_test.cpp.
#include "store/moving/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

#include "base/error.h"
#include "store/moving/codec_choice.h"
#include "store/moving/piece_codec.h"
#include "store/moving/rounding.h"

namespace anadrome::store {
namespace {

using limits = std::numeric_limits<double>;
using Doubles = std::vector<double>;
constexpr CodecName kLossy[] = {CodecName::kFloat32, CodecName::kRound, CodecName::kZfp};
constexpr CodecName kCodecs[] = {CodecName::kLz4, CodecName::kFloat32, CodecName::kRound,
                                 CodecName::kZfp};
constexpr std::size_t kCount = 4096;

template <class Real>
std::span<const std::byte> bytes_of(const std::vector<Real>& values) {
  return std::as_bytes(std::span(values));
}
template <class Real>
std::span<std::byte> bytes_of(std::vector<Real>& values) {
  return std::as_writable_bytes(std::span(values));
}
bool same_bits(const Doubles& some, const Doubles& others) {
  return std::memcmp(some.data(), others.data(), 8 * some.size()) == 0;
}

Doubles smooth() {
  Doubles values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) values[i] = std::sin(1e-2 * static_cast<double>(i));
  return values;
}
Doubles random_numbers(double scale) {
  std::mt19937_64 draw(7);
  std::normal_distribution<double> normal(0, scale);
  Doubles values(kCount);
  for (double& value : values) value = normal(draw);
  return values;
}
Doubles random_bits(std::size_t count) {
  std::mt19937_64 draw(3);
  Doubles values(count);
  for (double& value : values) {
    const std::uint64_t bits = draw();
    std::memcpy(&value, &bits, sizeof value);
  }
  return values;
}
Doubles with(Doubles values, std::initializer_list<double> odd) {
  std::size_t at = 17;
  for (const double value : odd) values[at += 100] = value;
  return values;
}

// Smooth, random, constant and zero; of all magnitudes; with numbers that are none.
std::vector<Doubles> all_fields() {
  Doubles magnitudes(kCount);
  for (std::size_t i = 0; i < kCount; ++i)
    magnitudes[i] = std::ldexp(1.0, static_cast<int>(i % 2000) - 1000);
  return {smooth(),
          random_numbers(1),
          random_numbers(1e-300),
          random_numbers(1e300),
          Doubles(kCount, 1.5),
          Doubles(kCount, 0.0),
          Doubles(kCount, limits::denorm_min()),
          magnitudes,
          with(smooth(), {limits::quiet_NaN()}),
          with(smooth(), {limits::infinity(), -limits::infinity()}),
          with(smooth(), {1e30, -1e200, limits::max(), limits::denorm_min(), -0.0})};
}

struct Once {
  Piece piece;
  Doubles back;
};
Once there_and_back(PieceCodec& codec, CodecName name, const Doubles& from,
                    const Numbers& numbers) {
  Once once;
  std::vector<std::byte> to(8 * from.size());
  once.piece = codec.encode(name, bytes_of(from), numbers, to);
  once.back.resize(from.size());
  codec.decode(once.piece, std::span(to).first(static_cast<std::size_t>(once.piece.bytes)), numbers,
               bytes_of(once.back));
  return once;
}
bool is_what_memory_becomes(PieceCodec& codec, CodecName name, Doubles from, const Numbers& numbers,
                            const Doubles& back) {
  codec.change(name, bytes_of(from), numbers);
  return same_bits(from, back);
}

Numbers doubles(double tolerance) {
  return {8, 8, tolerance, {static_cast<std::int64_t>(kCount), 1, 1}};
}

// ---- without loss ----

TEST(Shuffle, PutsBytesOfOnePlaceTogetherAndIsUndone) {
  const std::vector<unsigned char> from = {1, 2, 3, 4, 5, 6, 7};  // as HDF5's filter does it
  std::vector<unsigned char> to(7);
  shuffle(std::as_bytes(std::span(from)), 3, reinterpret_cast<std::byte*>(to.data()));
  EXPECT_EQ(to, (std::vector<unsigned char>{1, 4, 2, 5, 3, 6, 7}));
  for (const std::int64_t width : {1, 4, 8, 16}) {
    for (const std::size_t count : {0u, 1u, 3u, 1000u, 1029u}) {
      const Doubles bits = random_bits(count);
      for (const std::size_t bytes : {8 * count, 8 * count - std::min<std::size_t>(count, 5)}) {
        std::vector<std::byte> there(bytes), back(bytes);
        shuffle(bytes_of(bits).first(bytes), width, there.data());
        unshuffle(there, width, back.data());
        EXPECT_EQ(std::memcmp(back.data(), bits.data(), bytes), 0);
      }
    }
  }
}

TEST(Codec, GivesBackWhatItWasGivenAndSaysWhenBytesDoNotBecomeFewer) {
  for (const std::size_t count : {1u, 5u, 512u, 4096u, 32768u}) {
    for (const double value : {1.5, -0.0, limits::quiet_NaN()}) {
      const Doubles from(count, value);
      std::vector<std::byte> to(8 * count - 1), back(8 * count);
      const std::int64_t bytes = compress_lz4(bytes_of(from), to);
      EXPECT_TRUE(bytes > 0 || count < 512) << count;
      if (bytes == 0) continue;
      expand_lz4(std::span(to).first(static_cast<std::size_t>(bytes)), back);
      EXPECT_EQ(std::memcmp(back.data(), from.data(), back.size()), 0);
    }
    std::vector<std::byte> to(8 * count - 1);
    EXPECT_EQ(compress_lz4(bytes_of(random_bits(count)), to), 0);
  }
}

TEST(Codec, TouchesNothingElseHoweverItsBytesAreDamaged) {
  std::mt19937 draw(5);
  for (const CodecName name : kCodecs) {
    PieceCodec codec(std::span(&name, 1), 8 * kCount);
    std::vector<std::byte> whole(8 * kCount);
    const Piece piece = codec.encode(name, bytes_of(smooth()), doubles(1e-6), whole);
    for (int i = 0; i < 1000; ++i) {
      std::vector<std::byte> damaged = whole;
      damaged.resize(static_cast<std::size_t>(piece.bytes));
      damaged[draw() % (i % 2 == 0 ? 8 : damaged.size())] ^= std::byte(1 << draw() % 8);
      if (i % 3 == 0) damaged.resize(draw() % damaged.size());
      Doubles back(kCount + 8, 7);
      const Failure failure = failure_from(
          [&] { codec.decode(piece, damaged, doubles(0), bytes_of(back).first(8 * kCount)); });
      EXPECT_TRUE(!failure || failure.status == ANADROME_ERR_CORRUPT);
      for (std::size_t b = kCount; b < back.size(); ++b) EXPECT_EQ(back[b], 7);
    }
  }
}

// ---- with loss ----

TEST(Rounding, KeepsToItsToleranceAndLeavesFewBits) {
  for (const double tolerance : {1e-3, 0.5, 1e-12}) {
    Doubles values = random_numbers(3), rounded = values;
    round_to(tolerance, bytes_of(rounded), 8);
    const double unit = std::exp2(std::floor(std::log2(2 * tolerance)));
    double sum = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      EXPECT_LE(std::abs(rounded[i] - values[i]), tolerance);
      EXPECT_EQ(std::remainder(rounded[i], unit), 0);
      sum += rounded[i] - values[i];
    }
    EXPECT_LT(std::abs(sum), 4 * unit * std::sqrt(kCount / 12.0)) << "it has no bias";
  }
  Doubles ties = {0.5, 1.5, 2.5, -0.5, -1.5};
  round_to(0.5, bytes_of(ties), 8);
  EXPECT_EQ(ties, (Doubles{0, 2, 2, 0, -2}));
  std::vector<float> singles = {0.3F, -1e20F, 7.26F, std::numeric_limits<float>::infinity()};
  const std::vector<float> before = singles;
  ASSERT_TRUE(can_round(0.25, 4));
  round_to(0.25, bytes_of(singles), 4);
  EXPECT_EQ(singles, (std::vector<float>{0.5F, -1e20F, 7.5F, before[3]}));
  EXPECT_FALSE(can_round(1e-45, 4));
}

// As far as the codec says: single precision has an error relative to each number.
double allowed(CodecName codec, double tolerance, double value) {
  if (codec != CodecName::kFloat32) return tolerance;
  return std::max(std::ldexp(std::abs(value), -24), std::ldexp(1.0, -150));
}

TEST(LossyCodec, KeepsToItsToleranceWhateverTheNumbers) {
  for (const CodecName name : kLossy) {
    PieceCodec codec(std::span(&name, 1), 8 * kCount);
    int number = 0;
    for (const Doubles& from : all_fields()) {
      SCOPED_TRACE(testing::Message() << "codec " << static_cast<int>(name) << " field " << number);
      ++number;
      for (const double relative : {1e-1, 1e-6, 1e-14}) {
        const double tolerance = relative * magnitudes_of(bytes_of(from), 8).usual;
        const auto [piece, back] = there_and_back(codec, name, from, doubles(tolerance));
        for (std::size_t i = 0; i < kCount; ++i) {
          const bool close = std::abs(back[i] - from[i]) <= allowed(name, tolerance, from[i]) ||
                             back[i] == from[i] || (std::isnan(back[i]) && std::isnan(from[i]));
          ASSERT_TRUE(close) << from[i] << " -> " << back[i] << ", tolerance " << tolerance;
        }
        EXPECT_TRUE(is_what_memory_becomes(codec, name, from, doubles(tolerance), back));
        const auto exact = there_and_back(codec, CodecName::kLz4, from, doubles(tolerance));
        EXPECT_TRUE(same_bits(exact.back, from));
        EXPECT_LE(static_cast<int>(exact.piece.coding), static_cast<int>(Piece::Coding::kLz4));
      }
    }
    const Doubles from = random_numbers(1);
    Numbers bytes = doubles(1);
    bytes.real_bytes = 0;
    EXPECT_TRUE(same_bits(there_and_back(codec, name, from, bytes).back, from));
    EXPECT_TRUE(same_bits(there_and_back(codec, name, from, doubles(0)).back, from));
    const Piece piece = there_and_back(codec, name, smooth(), doubles(1e-6)).piece;
    EXPECT_LE(piece.bytes, static_cast<std::int64_t>(8 * kCount / 2));
    EXPECT_EQ(piece.coding, name == CodecName::kZfp       ? Piece::Coding::kZfp
                            : name == CodecName::kFloat32 ? Piece::Coding::kFloat32
                                                          : Piece::Coding::kLz4);
  }
}

// Every tenth number of a smooth field, or all but every tenth, or one.
std::vector<Doubles> with_fills(double fill) {
  Doubles some = smooth(), most = smooth(), one = smooth();
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i % 10 == 3) some[i] = fill;
    if (i % 10 != 3) most[i] = fill;
  }
  one[1234] = fill;
  return {some, most, one};
}
constexpr double kFills[] = {-999.9, 1e16, -1e20, 9.969209968386869e36, 1e200};

TEST(Magnitudes, LeaveOutliersApart) {
  for (const double fill : kFills) {
    for (const Doubles& field : with_fills(fill)) {
      const Magnitudes found = magnitudes_of(bytes_of(field), 8);
      EXPECT_TRUE(found.usual > 0.99 && found.usual <= 1) << fill;
      EXPECT_TRUE(found.outliers > found.usual && found.outliers <= std::abs(fill)) << fill;
    }
    const Magnitudes found = magnitudes_of(bytes_of(with_fills(fill)[0]), 8);
    EXPECT_EQ(found.fills, found.outliers) << fill;
    // All of a rank may be land.
    EXPECT_LE(magnitudes_of(bytes_of(Doubles(kCount, fill)), 8).outliers, std::abs(fill));
  }
  Doubles two_fills = with_fills(1e20)[0];
  for (std::size_t i = 0; i < kCount; i += 10) two_fills[i] = -999.9;
  EXPECT_LE(magnitudes_of(bytes_of(two_fills), 8).usual, 1);
  // Without a gap, or many and not the same.
  Doubles two_units = smooth();
  for (std::size_t i = 0; i < kCount; i += 2) two_units[i] = 1e5 + 1e3 * two_units[i];
  EXPECT_GT(magnitudes_of(bytes_of(two_units), 8).usual, 1e5);
  for (const Doubles& field : {two_units, smooth(), random_numbers(1), random_numbers(1e-300)})
    EXPECT_EQ(magnitudes_of(bytes_of(field), 8).outliers, kNoOutliers);
  const std::vector<float> floats = {1, 2, 3, 1e20F, 1e20F};
  EXPECT_EQ(magnitudes_of(bytes_of(floats), 4).usual, 3);
}

TEST(LossyCodec, LeavesFillValuesAsTheyAreAndKeepsTheOthersToTheirOwnTolerance) {
  for (const CodecName name : kLossy) {
    PieceCodec codec(std::span(&name, 1), 8 * kCount);
    for (const double fill : kFills) {
      for (const Doubles& from : with_fills(fill)) {
        const Magnitudes found = magnitudes_of(bytes_of(from), 8);
        Numbers numbers = doubles(1e-6 * found.usual);
        numbers.outliers = found.outliers;
        const auto [piece, back] = there_and_back(codec, name, from, numbers);
        for (std::size_t i = 0; i < kCount; ++i) {
          const double most = from[i] == fill ? 0 : 1e-6;
          ASSERT_LE(std::abs(back[i] - from[i]), most) << static_cast<int>(name) << " " << fill;
        }
        EXPECT_TRUE(is_what_memory_becomes(codec, name, from, numbers, back));
      }
    }
  }
}

// One number sets the exponent of a block of zfp's: of others with other exponents it then has
// fewer bits than the tolerance asks for.
TEST(LossyCodec, RoundsWhereZfpMissesItsTolerance) {
  Doubles from = smooth();
  for (std::size_t i = 0; i < kCount; i += 4) from[i] = 1e25;
  ZfpCodec alone(8 * kCount);
  const Sizes sizes = doubles(1).sizes;
  const auto encoded = alone.encode(1e-3, bytes_of(from), 8, sizes);
  Doubles back(kCount);
  const std::vector<std::byte> copy(encoded.begin(), encoded.end());
  alone.decode(copy, bytes_of(back), 8, sizes);
  EXPECT_FALSE(are_within(1e-3, bytes_of(from), bytes_of(back), 8)) << "zfp alone misses it";

  const CodecName zfp = CodecName::kZfp;
  PieceCodec codec(std::span(&zfp, 1), 8 * kCount);
  const Once once = there_and_back(codec, zfp, from, doubles(1e-3));
  EXPECT_EQ(once.piece.coding, Piece::Coding::kLz4);
  EXPECT_TRUE(are_within(1e-3, bytes_of(from), bytes_of(once.back), 8));
}

TEST(LossyCodec, UsesAllDimensions) {
  constexpr std::int64_t kSide = 16;
  Doubles from(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto x = static_cast<double>(i % 16), y = static_cast<double>(i / 16 % 16);
    from[i] = std::sin(0.1 * x + 2) * std::sin(0.2 * y + static_cast<double>(i / 256) * 0.1);
  }
  const CodecName zfp = CodecName::kZfp;
  PieceCodec codec(std::span(&zfp, 1), 8 * kCount);
  const auto bytes = [&](const Sizes& sizes) {
    return there_and_back(codec, zfp, from, {8, 8, 1e-6, sizes}).piece.bytes;
  };
  const std::int64_t plane = bytes({kSide, kSide * kSide, 1});
  EXPECT_LT(plane, bytes({kSide * kSide * kSide, 1, 1}));
  EXPECT_LT(bytes({kSide, kSide, kSide}), plane);
}

// ---- which of several ----

using Seconds = std::map<CodecName, double>;

// Blocks that each codec got of so many, which takes so long with each.
std::map<CodecName, int> blocks(CodecChoice& choice, int count, const Seconds& seconds,
                                double computed = 0) {
  std::map<CodecName, int> got;
  for (int i = 0; i < count; ++i) {
    const CodecName name = choice.next();
    ++got[name];
    choice.note(seconds.at(name), name == CodecName::kFloat32 ? 0 : computed, 1000);
  }
  return got;
}
const std::vector<CodecName> kAll = {CodecName::kFloat32, CodecName::kRound, CodecName::kZfp};
const Seconds kUsual = {{CodecName::kFloat32, 3}, {CodecName::kRound, 2}, {CodecName::kZfp, 4}};

TEST(CodecChoice, TakesTheQuickestWithTheSolversTimeWhereEveryCoreComputes) {
  CodecChoice choice(kAll, false), busy(kAll, true);
  EXPECT_GT(blocks(choice, 300, kUsual, 2).at(CodecName::kRound), 280);
  EXPECT_GT(blocks(busy, 300, kUsual, 2).at(CodecName::kFloat32), 280);
  const std::vector<CodecName> one = {CodecName::kZfp};
  CodecChoice none(one, false);
  EXPECT_EQ(blocks(none, 50, kUsual).at(CodecName::kZfp), 50);
}

TEST(CodecChoice, FollowsWhatChanges) {
  CodecChoice choice(kAll, false);
  Seconds seconds = kUsual;
  blocks(choice, 100, seconds);
  seconds[CodecName::kRound] = 5;
  blocks(choice, 100, seconds);
  EXPECT_GT(blocks(choice, 100, seconds).at(CodecName::kFloat32), 90);
  seconds[CodecName::kZfp] = 1;
  blocks(choice, 300, seconds);
  EXPECT_GT(blocks(choice, 100, seconds).at(CodecName::kZfp), 90);
}

}  // namespace
}  // namespace anadrome::store

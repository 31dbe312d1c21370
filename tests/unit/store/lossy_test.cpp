// SPDX-License-Identifier: BSD-2-Clause
// Codecs that change numbers: by how much, and which ones never.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "store/moving/piece_codec.h"
#include "store/moving/rounding.h"
#include "tier_bench.h"

namespace anadrome::store {
namespace {

using limits = std::numeric_limits<double>;
constexpr CodecName kLossy[] = {CodecName::kFloat32, CodecName::kRound, CodecName::kZfp};
constexpr std::size_t kCount = 4096;

template <class Real>
std::span<const std::byte> bytes_of(const std::vector<Real>& values) {
  return std::as_bytes(std::span(values));
}
template <class Real>
std::span<std::byte> bytes_of(std::vector<Real>& values) {
  return std::as_writable_bytes(std::span(values));
}

std::vector<double> smooth() {
  std::vector<double> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) values[i] = std::sin(1e-2 * static_cast<double>(i));
  return values;
}
std::vector<double> random_numbers(double scale) {
  std::mt19937_64 draw(7);
  std::normal_distribution<double> normal(0, scale);
  std::vector<double> values(kCount);
  for (double& value : values) value = normal(draw);
  return values;
}
std::vector<double> with(std::vector<double> values, std::initializer_list<double> odd) {
  std::size_t at = 17;
  for (const double value : odd) values[at += 100] = value;
  return values;
}

// Smooth, random, constant and zero; of all magnitudes; with numbers that are none.
std::vector<std::vector<double>> fields() {
  std::vector<double> magnitudes(kCount);
  for (std::size_t i = 0; i < kCount; ++i)
    magnitudes[i] = std::ldexp(1.0, static_cast<int>(i % 2000) - 1000);
  return {smooth(),
          random_numbers(1),
          random_numbers(1e-300),
          random_numbers(1e300),
          std::vector<double>(kCount, 1.5),
          std::vector<double>(kCount, 0.0),
          std::vector<double>(kCount, limits::denorm_min()),
          magnitudes,
          with(smooth(), {limits::quiet_NaN()}),
          with(smooth(), {limits::infinity(), -limits::infinity()}),
          with(smooth(), {1e30, -1e200, limits::max(), limits::denorm_min(), -0.0})};
}

struct Once {
  Piece piece;
  std::vector<double> back;
};
Once there_and_back(PieceCodec& codec, CodecName name, const std::vector<double>& from,
                    const Numbers& numbers) {
  Once once;
  std::vector<std::byte> to(8 * from.size());
  once.piece = codec.encode(name, bytes_of(from), numbers, to);
  once.back.resize(from.size());
  codec.decode(once.piece, std::span(to).first(static_cast<std::size_t>(once.piece.bytes)), numbers,
               bytes_of(once.back));
  return once;
}

Numbers doubles(double tolerance) {
  return {8, 8, tolerance, {static_cast<std::int64_t>(kCount), 1, 1}};
}

bool same_bits(const std::vector<double>& some, const std::vector<double>& others) {
  return std::memcmp(some.data(), others.data(), 8 * some.size()) == 0;
}

TEST(Rounding, KeepsToItsToleranceAndLeavesFewBits) {
  for (const double tolerance : {1e-3, 0.5, 1e-12}) {
    std::vector<double> values = random_numbers(3), rounded = values;
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
  std::vector<double> ties = {0.5, 1.5, 2.5, -0.5, -1.5};
  round_to(0.5, bytes_of(ties), 8);
  EXPECT_EQ(ties, (std::vector<double>{0, 2, 2, 0, -2}));
}

TEST(Rounding, WorksOnSinglePrecision) {
  std::vector<float> values = {0.3F, -1e20F, 7.26F, std::numeric_limits<float>::infinity()};
  const std::vector<float> before = values;
  ASSERT_TRUE(can_round(0.25, 4));
  round_to(0.25, bytes_of(values), 4);
  EXPECT_EQ(values, (std::vector<float>{0.5F, -1e20F, 7.5F, before[3]}));
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
    for (const std::vector<double>& from : fields()) {
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
        std::vector<double> changed = from;
        codec.change(name, bytes_of(changed), doubles(tolerance));
        EXPECT_TRUE(same_bits(changed, back)) << "in memory it is what a read brings";
        const auto exact = there_and_back(codec, CodecName::kLz4, from, doubles(tolerance));
        EXPECT_TRUE(same_bits(exact.back, from));
        EXPECT_LE(static_cast<int>(exact.piece.coding), static_cast<int>(Piece::Coding::kLz4));
      }
    }
  }
}

// Every tenth number of a smooth field, or all but every tenth, or one.
std::vector<std::vector<double>> with_fills(double fill) {
  std::vector<double> some = smooth(), most = smooth(), one = smooth();
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
    for (const std::vector<double>& field : with_fills(fill)) {
      const Magnitudes found = magnitudes_of(bytes_of(field), 8);
      EXPECT_TRUE(found.usual > 0.99 && found.usual <= 1) << fill;
      EXPECT_TRUE(found.outliers > found.usual && found.outliers <= std::abs(fill)) << fill;
    }
    const Magnitudes found = magnitudes_of(bytes_of(with_fills(fill)[0]), 8);
    EXPECT_EQ(found.fills, found.outliers) << fill;
  }
  std::vector<double> two_fills = with_fills(1e20)[0];
  for (std::size_t i = 0; i < kCount; i += 10) two_fills[i] = -999.9;
  EXPECT_LE(magnitudes_of(bytes_of(two_fills), 8).usual, 1);
  // Without a gap, or many and not the same.
  std::vector<double> two_units = smooth();
  for (std::size_t i = 0; i < kCount; i += 2) two_units[i] = 1e5 + 1e3 * two_units[i];
  EXPECT_GT(magnitudes_of(bytes_of(two_units), 8).usual, 1e5);
  EXPECT_EQ(magnitudes_of(bytes_of(two_units), 8).outliers, kNoOutliers);
  for (const std::vector<double>& field : {smooth(), random_numbers(1), random_numbers(1e-300)})
    EXPECT_EQ(magnitudes_of(bytes_of(field), 8).outliers, kNoOutliers);
  for (const double fill : kFills)  // all of a rank may be land
    EXPECT_LE(magnitudes_of(bytes_of(std::vector<double>(kCount, fill)), 8).outliers,
              std::abs(fill));
  const std::vector<float> floats = {1, 2, 3, 1e20F, 1e20F};
  EXPECT_EQ(magnitudes_of(bytes_of(floats), 4).usual, 3);
}

TEST(LossyCodec, LeavesFillValuesAsTheyAreAndKeepsTheOthersToTheirOwnTolerance) {
  for (const CodecName name : kLossy) {
    PieceCodec codec(std::span(&name, 1), 8 * kCount);
    for (const double fill : kFills) {
      for (const std::vector<double>& from : with_fills(fill)) {
        const Magnitudes found = magnitudes_of(bytes_of(from), 8);
        Numbers numbers = doubles(1e-6 * found.usual);
        numbers.outliers = found.outliers;
        const auto [piece, back] = there_and_back(codec, name, from, numbers);
        for (std::size_t i = 0; i < kCount; ++i) {
          const double most = from[i] == fill ? 0 : 1e-6;
          ASSERT_LE(std::abs(back[i] - from[i]), most) << static_cast<int>(name) << " " << fill;
        }
        std::vector<double> changed = from;
        codec.change(name, bytes_of(changed), numbers);
        EXPECT_TRUE(same_bits(changed, back)) << "in memory it is what a read brings";
      }
    }
  }
}

TEST(LossyCodec, ChangesNothingThatMustNotBe) {
  for (const CodecName name : kLossy) {
    PieceCodec codec(std::span(&name, 1), 8 * kCount);
    const std::vector<double> from = random_numbers(1);
    Numbers bytes = doubles(1);
    bytes.real_bytes = 0;
    EXPECT_TRUE(same_bits(there_and_back(codec, name, from, bytes).back, from));
    EXPECT_TRUE(same_bits(there_and_back(codec, name, from, doubles(0)).back, from));
  }
}

TEST(LossyCodec, MakesNumbersFewBytes) {
  const double tolerance = 1e-6;
  for (const CodecName name : kLossy) {
    PieceCodec codec(std::span(&name, 1), 8 * kCount);
    const Piece piece = there_and_back(codec, name, smooth(), doubles(tolerance)).piece;
    EXPECT_LE(piece.bytes, static_cast<std::int64_t>(8 * kCount / 2));
    EXPECT_EQ(piece.coding, name == CodecName::kZfp       ? Piece::Coding::kZfp
                            : name == CodecName::kFloat32 ? Piece::Coding::kFloat32
                                                          : Piece::Coding::kLz4);
  }
}

// One number sets the exponent of a block of zfp's: of others with other exponents it then has
// fewer bits than the tolerance asks for.
TEST(LossyCodec, RoundsWhereZfpMissesItsTolerance) {
  std::vector<double> from = smooth();
  for (std::size_t i = 0; i < kCount; i += 4) from[i] = 1e25;
  ZfpCodec alone(8 * kCount);
  const Sizes sizes = doubles(1).sizes;
  const auto encoded = alone.encode(1e-3, bytes_of(from), 8, sizes);
  std::vector<double> back(kCount);
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
  std::vector<double> from(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto x = static_cast<double>(i % 16), y = static_cast<double>(i / 16 % 16);
    from[i] = std::sin(0.1 * x + 2) * std::sin(0.2 * y + static_cast<double>(i / 256) * 0.1);
  }
  const CodecName zfp = CodecName::kZfp;
  PieceCodec codec(std::span(&zfp, 1), 8 * kCount);
  const auto bytes = [&](const Sizes& sizes) {
    return there_and_back(codec, zfp, from, {8, 8, 1e-6, sizes}).piece.bytes;
  };
  const std::int64_t line = bytes({kSide * kSide * kSide, 1, 1});
  const std::int64_t plane = bytes({kSide, kSide * kSide, 1});
  const std::int64_t cube = bytes({kSide, kSide, kSide});
  EXPECT_LT(plane, line);
  EXPECT_LT(cube, plane);
}

TEST(LossyCodec, TouchesNothingElseHoweverItsBytesAreDamaged) {
  std::mt19937 draw(5);
  for (const CodecName name : kLossy) {
    PieceCodec codec(std::span(&name, 1), 8 * kCount);
    std::vector<std::byte> whole(8 * kCount);
    const Piece piece = codec.encode(name, bytes_of(smooth()), doubles(1e-6), whole);
    for (int i = 0; i < 500; ++i) {
      std::vector<std::byte> damaged = whole;
      damaged.resize(static_cast<std::size_t>(piece.bytes));
      damaged[draw() % (i % 2 == 0 ? 8 : damaged.size())] ^= std::byte(1 << draw() % 8);
      if (i % 3 == 0) damaged.resize(draw() % damaged.size());
      std::vector<double> back(kCount + 8, 7);
      const Failure failure = failure_from(
          [&] { codec.decode(piece, damaged, doubles(0), bytes_of(back).first(8 * kCount)); });
      EXPECT_TRUE(!failure || failure.status == ANADROME_ERR_CORRUPT);
      for (std::size_t b = kCount; b < back.size(); ++b) EXPECT_EQ(back[b], 7);
    }
  }
}

// ---- blocks ----

// Fields of all kinds, two states of which one is a thousand times larger, or one in whole pages.
class LossyBlocks : public ::testing::TestWithParam<CodecName> {
 protected:
  static constexpr std::int64_t kNumbers = 40'001;  // two pieces, the last one odd

  LossyBlocks() {
    add("plain", ANADROME_FLOAT64, kNumbers);
    add("single", ANADROME_FLOAT32, kNumbers);
    add("complex", ANADROME_COMPLEX128, 999);
    add("integers", ANADROME_INT64, 999);
    add("none", ANADROME_FLOAT64, 0);
    add("shaped", ANADROME_FLOAT64, 31 * 40 * 50).shape = {31, 40, 50};
    add("wide", ANADROME_FLOAT64, 3 * 20'011).shape = {3, 20'011};
    add("absolute", ANADROME_FLOAT64, 5000).tolerance = 1e-2;
    add("exact", ANADROME_FLOAT64, 5000).tolerance = 0;
  }
  Field& add(const char* name, anadrome_type type, std::int64_t count) {
    Field& field = fields_.emplace_back();
    field.name = name;
    field.type = type;
    field.count = count;
    return field;
  }
  static double value(bool large, std::int64_t i) {
    return (large ? 1000 : 1) * (2 + std::sin(0.01 * static_cast<double>(i)));
  }
  static void fill(const Field& field, std::int64_t state, std::byte* to) {
    const std::int64_t width = field.type == ANADROME_FLOAT32 ? 4 : 8;
    for (std::int64_t i = 0; i < field.bytes() / width; ++i) {
      const double real = value((state == 0) == (width == 8), i);
      const auto single = static_cast<float>(real);
      const auto integer = static_cast<std::int64_t>(1e6 * real);
      const void* from = field.type == ANADROME_INT64 ? static_cast<const void*>(&integer)
                         : width == 4                 ? static_cast<const void*>(&single)
                                                      : &real;
      std::memcpy(to + i * width, from, static_cast<std::size_t>(width));
    }
  }
  void expect_close(const Field& field, std::int64_t state, const std::byte* found) const {
    std::vector<std::byte> wanted(static_cast<std::size_t>(field.bytes()));
    fill(field, state, wanted.data());
    const std::span<const std::byte> back(found, wanted.size());
    const bool same = std::equal(wanted.begin(), wanted.end(), back.begin());
    if (field.name == "integers" || field.count == 0) {
      EXPECT_TRUE(same) << field.name;
      return;
    }
    const std::int64_t width = field.type == ANADROME_FLOAT32 ? 4 : 8;
    const double most = magnitudes_of(wanted, width).usual;
    if (GetParam() == CodecName::kFloat32) {
      EXPECT_TRUE(are_within(std::ldexp(most, -24), wanted, back, width)) << field.name;
      EXPECT_EQ(same, width == 4 || field.tolerance == 0) << field.name;
      return;
    }
    const double tolerance = field.tolerance >= 0 ? field.tolerance : kRelative * most;
    EXPECT_TRUE(are_within(tolerance, wanted, back, width)) << field.name << state;
    EXPECT_EQ(same, tolerance == 0) << field.name;
  }

  static constexpr double kRelative = 1e-4;
  std::vector<Field> fields_;
};

TEST_P(LossyBlocks, ComeBackWithinTheToleranceOfEachStateAndField) {
  for (const bool paged : {true, false}) {
    const BlockLayout layout({paged ? 1 : 2, paged}, fields_);
    Pool pool(layout.block_bytes(), 1);
    SegmentFile file(layout, fields_, 2, paged ? TransportName::kAuto : TransportName::kBuffered);
    TransportOptions options;
    options.encoding = encoding_of({GetParam()}, kRelative, fields_);
    const auto transport = make_direct_transport(layout, options);
    EXPECT_TRUE(transport->is_lossy());
    const auto fill_all = [&](std::byte between = {}) {
      std::fill_n(pool.address(0), layout.block_bytes(), between);
      for (std::int64_t s = 0; s < layout.states(); ++s)
        for (std::size_t f = 0; f < fields_.size(); ++f)
          fill(fields_[f], s, layout.address(pool.address(0), s, f));
    };
    const auto all_bytes = [&] {
      const std::byte* const bytes = pool.address(0);
      return std::vector<std::byte>(bytes, bytes + layout.block_bytes());
    };
    Transfer transfer;
    transfer.segment = &file.segment;
    transfer.bytes = pool.address(0);
    transfer.identity.states = layout.states();
    const auto carry_out = [&](bool write) {
      transfer.write = write;
      transport->start(transfer);
      transport->wait(transfer);
      ASSERT_FALSE(transfer.failure) << transfer.failure.message;
    };
    fill_all();
    const std::vector<std::byte> before = all_bytes();
    carry_out(true);
    EXPECT_FALSE(transfer.encoded.exact);
    EXPECT_EQ(all_bytes(), before) << "what is in memory stays as it is";
    std::memset(pool.address(0), 0, static_cast<std::size_t>(layout.block_bytes()));
    carry_out(false);
    for (std::int64_t s = 0; s < layout.states(); ++s)
      for (std::size_t f = 0; f < fields_.size(); ++f)
        expect_close(fields_[f], s, layout.address(pool.address(0), s, f));
    const std::vector<std::byte> read = all_bytes();

    fill_all();
    transfer.change = true;
    carry_out(false);
    transfer.change = false;
    EXPECT_EQ(all_bytes(), read) << "in memory a block becomes what a read brings";

    // Whatever lies between states.
    fill_all(std::byte{0x5a});
    carry_out(true);
    carry_out(false);
    for (std::int64_t s = 0; s < layout.states(); ++s) {
      for (std::size_t f = 0; f < fields_.size(); ++f) {
        const std::byte* const from = layout.address(pool.address(0), s, f);
        const auto at = from - pool.address(0);
        EXPECT_EQ(std::memcmp(from, read.data() + at, static_cast<std::size_t>(fields_[f].bytes())),
                  0)
            << fields_[f].name;
      }
    }

    fill_all();
    transfer.exact = true;
    carry_out(true);
    EXPECT_TRUE(transfer.encoded.exact);
    std::memset(pool.address(0), 0, static_cast<std::size_t>(layout.block_bytes()));
    carry_out(false);
    EXPECT_EQ(all_bytes(), before);
  }
}

TEST_P(LossyBlocks, AStateIsChangedOnce) {
  TierBench s({}, [](const BlockLayout& made) {
    TransportOptions options;
    options.encoding = Encoding{{GetParam()}, {{.number_bytes = 8, .real_bytes = 8}}};
    options.encoding->fields[0].tolerance = 1e-2;
    return make_direct_transport(made, options);
  });
  s.keep_and_write(0, 0);
  for (std::size_t i = 0; i < s.values.all.size(); ++i)
    s.values.all[i] = std::bit_cast<std::int64_t>(100 + 0.37 * static_cast<double>(i));
  s.tier->keep({1, 30});
  s.tier->write_newest_block();
  s.tier->restore({1, 30});
  const auto once = s.values.all;
  s.tier->flush();
  s.tier->drop(1);
  EXPECT_FALSE(s.tier->load(1));
  s.tier->restore({1, 30});
  EXPECT_EQ(s.values.all, once);
}

// Of two codecs that compete, the one that wrote a block changes it in memory.
TEST(CompetingCodecs, MakeOfABlockInMemoryWhatAReadBrings) {
  constexpr std::int64_t kAnchors = 6;
  TierBench s({.pool_blocks = kAnchors + 1}, [](const BlockLayout& made) {
    TransportOptions options;
    options.encoding =
        Encoding{{CodecName::kRound, CodecName::kZfp}, {{.number_bytes = 8, .real_bytes = 8}}};
    options.encoding->fields[0].tolerance = 1e-2;
    return make_direct_transport(made, options);
  });
  for (std::int64_t anchor = 0; anchor < kAnchors; ++anchor) {
    for (std::size_t i = 0; i < s.values.all.size(); ++i)
      s.values.all[i] = std::bit_cast<std::int64_t>(
          std::sin(0.01 * static_cast<double>(i) + static_cast<double>(anchor)));
    s.tier->keep({anchor, anchor});
    s.tier->write_newest_block();
  }
  s.tier->flush();
  s.tier->set_prefetch_depth(2);
  std::vector<std::vector<std::int64_t>> changed;
  for (std::int64_t anchor = kAnchors; anchor-- > 1;) {
    if (anchor % 2 == 1) s.tier->prefetch(anchor);  // the next one ahead, or where it is restored
    ASSERT_FALSE(s.tier->load(anchor));
    s.tier->restore({anchor, anchor});
    changed.push_back(s.values.all);
  }
  EXPECT_EQ(s.tier->notes().states_read(), 0);
  for (std::int64_t anchor = kAnchors; anchor-- > 1;) {
    Transfer read;
    read.segment = &s.disk.file.segment;
    read.place = anchor;
    read.identity = s.tier->anchors().identity_of(anchor);
    read.encoded = s.tier->anchors()[anchor].encoded;
    read.checksum = s.tier->anchors()[anchor].checksum;
    read.bytes = s.pool.address(0);
    s.transport->start(read);
    s.transport->wait(read);
    ASSERT_FALSE(read.failure) << read.failure.message;
    const auto wanted =
        std::as_bytes(std::span(changed[static_cast<std::size_t>(kAnchors - 1 - anchor)]));
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), read.bytes)) << anchor;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LossyBlocks, ::testing::ValuesIn(kLossy));

}  // namespace
}  // namespace anadrome::store

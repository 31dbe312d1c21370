// SPDX-License-Identifier: BSD-2-Clause
// Codecs alone, and between a block and the disk.
#include "store/moving/codec.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "has_part.h"
#include "late_file_system.h"
#include "store/moving/mpio_transport.h"
#include "tier_bench.h"

namespace anadrome::store {
namespace {

std::span<const std::byte> bytes_of(const std::vector<double>& values) {
  return std::as_bytes(std::span(values));
}

std::vector<double> random_bits(std::size_t count, unsigned seed) {
  std::mt19937_64 draw(seed);
  std::vector<double> values(count);
  for (double& value : values) {
    const std::uint64_t bits = draw();
    std::memcpy(&value, &bits, sizeof value);
  }
  return values;
}

// Fields of every kind: smooth, constant, random, and numbers that are none.
std::vector<std::vector<double>> fields(std::size_t count) {
  std::vector<double> smooth(count), odd(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) smooth[i] = std::sin(1e-3 * static_cast<double>(i));
  using limits = std::numeric_limits<double>;
  const double odds[] = {limits::quiet_NaN(), -limits::infinity(), limits::denorm_min(), -0.0};
  for (std::size_t i = 0; i < count; ++i) odd[i] = odds[i % 4];
  return {smooth, odd, std::vector<double>(count, 1.5), random_bits(count, 1)};
}

TEST(Shuffle, IsUndoneByUnshuffle) {
  for (const std::int64_t width : {1, 4, 8, 16}) {
    for (const std::size_t count : {0u, 1u, 3u, 1000u, 1029u}) {
      const auto from = random_bits(count, 3);
      for (const std::size_t bytes : {8 * count, 8 * count - std::min<std::size_t>(count, 5)}) {
        std::vector<std::byte> there(bytes), back(bytes);
        shuffle(bytes_of(from).first(bytes), width, there.data());
        unshuffle(there, width, back.data());
        EXPECT_EQ(std::memcmp(back.data(), from.data(), bytes), 0);
      }
    }
  }
}

// As HDF5's filter does it: the first bytes of all numbers, then the second ones.
TEST(Shuffle, PutsBytesOfOnePlaceTogether) {
  const std::vector<unsigned char> from = {1, 2, 3, 4, 5, 6, 7};
  std::vector<unsigned char> to(7);
  shuffle(std::as_bytes(std::span(from)), 3, reinterpret_cast<std::byte*>(to.data()));
  EXPECT_EQ(to, (std::vector<unsigned char>{1, 4, 2, 5, 3, 6, 7}));
}

TEST(Codec, GivesBackWhatItWasGiven) {
  for (const std::size_t count : {1u, 5u, 512u, 32768u}) {
    for (const std::vector<double>& from : fields(count)) {
      std::vector<std::byte> to(8 * count - 1), back(8 * count);
      const std::int64_t bytes = compress_lz4(bytes_of(from), to);
      if (bytes == 0) continue;
      expand_lz4(std::span(to).first(static_cast<std::size_t>(bytes)), back);
      EXPECT_EQ(std::memcmp(back.data(), from.data(), back.size()), 0);
    }
  }
}

TEST(Codec, SaysWhenBytesDoNotBecomeFewer) {
  const auto noise = random_bits(1000, 2);
  std::vector<std::byte> to(7999);
  EXPECT_EQ(compress_lz4(bytes_of(noise), to), 0);
}

TEST(Codec, TouchesNothingElseHoweverItsBytesAreDamaged) {
  std::mt19937 draw(5);
  std::vector<double> from(512);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<double>(i % 17);
  std::vector<std::byte> whole(4095);
  const auto bytes = static_cast<std::size_t>(compress_lz4(bytes_of(from), whole));
  ASSERT_GT(bytes, 0);
  whole.resize(bytes);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> damaged = whole, back(4096 + 64, std::byte{7});
    damaged[draw() % bytes] ^= std::byte(1 << draw() % 8);
    if (i % 3 == 0) damaged.resize(draw() % bytes);
    const Failure failure = failure_from([&] { expand_lz4(damaged, std::span(back).first(4096)); });
    EXPECT_TRUE(!failure || failure.status == ANADROME_ERR_CORRUPT);
    for (std::size_t b = 4096; b < back.size(); ++b) EXPECT_EQ(back[b], std::byte{7});
  }
}

struct CodecBench : TierBench {
  explicit CodecBench(CodecName codec, const TierShape& shape = {})
      : TierBench(shape, [codec](const BlockLayout& made) {
          TransportOptions options;
          options.encoding = Encoding{{codec}, {{.number_bytes = 8}}};
          return make_direct_transport(made, options);
        }) {}
  void keep_and_drop_all(std::int64_t anchors) {
    for (std::int64_t anchor = 0; anchor < anchors; ++anchor) keep_and_write(anchor, 10 * anchor);
    tier->flush();
    for (std::int64_t anchor = anchors - 1; anchor >= 0; --anchor) tier->drop(anchor);
  }
};

TEST(Codec, EncodesTheSecondCopyOfStepZeroToo) {
  CodecBench s(CodecName::kLz4);
  s.keep_and_drop_all(1);
  EXPECT_TRUE(s.tier->lose(0));
  EXPECT_TRUE(s.brings_back(0, 0));
}

// Both copies have one description, whatever else is on its way.
TEST(Codec, DescribesBothCopiesOfStepZeroWhereSeveralCodecsCompete) {
  TierBench s({}, [](const BlockLayout& made) {
    TransportOptions options;
    options.encoding = Encoding{{CodecName::kRound, CodecName::kZfp}, {{.number_bytes = 8}}};
    return make_direct_transport(made, options);
  });
  for (std::int64_t anchor = 0; anchor < 3; ++anchor) s.keep_and_write(anchor, 10 * anchor);
  s.tier->flush();
  for (std::int64_t anchor = 2; anchor >= 0; --anchor) s.tier->drop(anchor);
  EXPECT_TRUE(s.brings_back(0, 0));
  s.tier->drop(0);
  EXPECT_TRUE(s.tier->lose(0));
  EXPECT_TRUE(s.brings_back(0, 0));
}

// Blocks of three fields and of many pieces, which take the place of others, with and without whole
// pages on disk.
class EncodedBlocks : public ::testing::Test {
 protected:
  EncodedBlocks() {
    for (const std::vector<double>& values : fields(kCount)) add(8, values);
    add(8, random_bits(1, 8));
    add(8, {});
    add(4, random_bits(kCount / 2, 9));
  }

  void add(std::int64_t width, const std::vector<double>& values) {
    Field field;
    field.name = "f" + std::to_string(fields_.size());
    field.type = width == 8 ? ANADROME_FLOAT64 : ANADROME_FLOAT32;
    field.count = static_cast<std::int64_t>(8 * values.size()) / width;
    fields_.push_back(field);
    values_.push_back(values);
  }

  void fill(const BlockLayout& layout, std::byte* block, bool zero) const {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      for (std::int64_t s = 0; s < layout.states(); ++s) {
        const auto bytes = static_cast<std::size_t>(fields_[f].bytes());
        if (zero) {
          std::memset(layout.address(block, s, f), 0, bytes);
        } else {
          std::memcpy(layout.address(block, s, f), values_[f].data(), bytes);
        }
      }
    }
  }
  bool is_filled(const BlockLayout& layout, std::byte* block) const {
    bool same = true;
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      for (std::int64_t s = 0; s < layout.states(); ++s) {
        same = same && std::memcmp(layout.address(block, s, f), values_[f].data(),
                                   static_cast<std::size_t>(fields_[f].bytes())) == 0;
      }
    }
    return same;
  }

  // Behind the pieces of each field, up to the end of their last page.
  bool ends_with_zeros(const SegmentFile& file, const Transfer& transfer) const {
    bool zeros = true;
    std::span<const std::int64_t> left = transfer.encoded.pieces;
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const std::int64_t bytes = take_bytes_on_disk(left);
      std::vector<char> rest(static_cast<std::size_t>(round_up(bytes, kPage) - bytes));
      const std::int64_t behind = file.segment.byte_of(transfer.place, f) + bytes;
      File::open(file.path, O_RDONLY).read_all(rest.data(), rest.size(), behind);
      zeros = zeros && std::count(rest.begin(), rest.end(), 0) == std::ssize(rest);
    }
    return zeros;
  }

  static constexpr std::size_t kCount = 420'000;  // 3.4 MB: 13 pieces, four calls
  std::vector<Field> fields_;
  std::vector<std::vector<double>> values_;
};

TEST_F(EncodedBlocks, ComeBackBitForBit) {
  using Case = std::pair<bool, bool>;
  for (const auto& [paged, is_late] : {Case{true, false}, Case{true, true}, Case{false, false}}) {
    const BlockLayout layout({paged ? 1 : 2, paged}, fields_);
    Pool pool(layout.block_bytes(), 1);
    SegmentFile file(layout, fields_, 2, paged ? TransportName::kAuto : TransportName::kBuffered);
    TransportOptions options;
    options.encoding = encoding_of({CodecName::kLz4}, 0, fields_);
    std::optional<test::LateFileSystem> late;
    if (is_late) late.emplace();
    const auto transport = make_direct_transport(layout, options);
    Transfer transfer;
    for (const std::int64_t block : {1, 0, 1}) {
      fill(layout, pool.address(0), false);
      transfer = {};
      transfer.write = true;
      transfer.segment = &file.segment;
      transfer.bytes = pool.address(0);
      transfer.identity.block = block;
      transfer.place = block;
      transfer.identity.states = layout.states();
      transport->start(transfer);
      transport->wait(transfer);
      ASSERT_FALSE(transfer.failure) << transfer.failure.message;
      EXPECT_LT(transport->totals().bytes_written, transport->totals().bytes_encoded);
      EXPECT_TRUE(!paged || ends_with_zeros(file, transfer)) << "old memory is on disk";
      fill(layout, pool.address(0), true);
      transfer.write = false;
      transport->start(transfer);
      transport->wait(transfer);
      ASSERT_FALSE(transfer.failure) << transfer.failure.message;
      EXPECT_TRUE(is_filled(layout, pool.address(0)));
    }
    // Pieces that cannot be, as from a file that somebody has changed.
    const std::vector<std::int64_t> pieces = transfer.encoded.pieces;
    for (const std::int64_t wrong :
         {std::int64_t{-1}, std::int64_t{0}, 8 * kPieceBytes + 8, 9 * kPieceBytes + 3,
          std::int64_t{7 + 80}, std::int64_t{2 + 80}, std::int64_t{1} << 40}) {
      transfer.encoded.pieces[1] = wrong;
      transport->start(transfer);
      transport->wait(transfer);
      EXPECT_EQ(transfer.failure.status, ANADROME_ERR_CORRUPT) << wrong;
      EXPECT_TRUE(test::has_part(transfer.failure.message, file.path));
    }
    const std::vector<std::int64_t> cut = {pieces.begin(), pieces.end() - 1};
    std::vector<std::int64_t> fewer = pieces;
    --fewer.front();
    std::vector<std::int64_t> late_in_field = pieces;  // while those before it are being read
    late_in_field[static_cast<std::size_t>(pieces.front())] = std::int64_t{1} << 40;
    for (const auto& wrong : {cut, fewer, late_in_field}) {
      transfer.encoded.pieces = wrong;
      transport->start(transfer);
      transport->wait(transfer);
      EXPECT_EQ(transfer.failure.status, ANADROME_ERR_CORRUPT);
    }
    EXPECT_TRUE(!late || late->under_way() == 0) << "what fails waits for what is under way";
  }
}

TEST(Codec, IsRefusedByHdf5) {
  const BlockLayout layout({1, true}, std::vector<Field>{});
  TransportOptions options;
  options.encoding = Encoding{};
  EXPECT_THROW(make_mpio_transport(layout, options, {}, MPI_COMM_NULL), Error);
}

}  // namespace
}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// Codecs between a block and the disk.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "file_systems.h"
#include "has_part.h"
#include "store/moving/mpio_transport.h"
#include "store/moving/piece_codec.h"
#include "store/moving/rounding.h"
#include "tier_bench.h"

namespace anadrome::store {
namespace {

Field field_of(const char* name, anadrome_type type, std::int64_t count) {
  Field field;
  field.name = name;
  field.type = type;
  field.count = count;
  return field;
}

// One block in memory, and two places for it on disk: of one state in whole pages, or of two.
struct EncodedBench {
  EncodedBench(const std::vector<Field>& fields, bool paged, const Encoding& encoding)
      : layout({paged ? 1 : 2, paged}, fields),
        pool(layout.block_bytes(), 1),
        file(layout, fields, 2, paged ? TransportName::kAuto : TransportName::kBuffered) {
    TransportOptions options;
    options.encoding = encoding;
    transport = make_direct_transport(layout, options);
    transfer.segment = &file.segment;
    transfer.bytes = pool.address(0);
    transfer.identity.states = layout.states();
  }
  const Failure& carry_out(bool write) {
    transfer.write = write;
    transport->start(transfer);
    transport->wait(transfer);
    return transfer.failure;
  }
  void clear(std::byte with = {}) { std::fill_n(pool.address(0), layout.block_bytes(), with); }
  std::vector<std::byte> bytes() const {
    return {pool.address(0), pool.address(0) + layout.block_bytes()};
  }
  template <class Body>  // with a state, a field, and where it is
  void each(const Body& body) const {
    for (std::int64_t s = 0; s < layout.states(); ++s)
      for (std::size_t f = 0; f < layout.parts().size(); ++f)
        body(s, f, layout.address(pool.address(0), s, f));
  }

  BlockLayout layout;
  Pool pool;
  SegmentFile file;
  std::unique_ptr<Transport> transport;
  Transfer transfer;
};

// Behind the pieces of each field, up to the end of their last page: not what was in memory.
bool ends_with_zeros(const EncodedBench& s) {
  bool zeros = true;
  std::span<const std::int64_t> left = s.transfer.encoded.pieces;
  for (std::size_t f = 0; f < s.layout.parts().size(); ++f) {
    const std::int64_t bytes = take_bytes_on_disk(left);
    std::vector<char> rest(static_cast<std::size_t>(round_up(bytes, kPage) - bytes));
    const std::int64_t behind = s.file.segment.byte_of(s.transfer.place, f) + bytes;
    File::open(s.file.path, O_RDONLY).read_all(rest.data(), rest.size(), behind);
    zeros = zeros && std::count(rest.begin(), rest.end(), 0) == std::ssize(rest);
  }
  return zeros;
}

// Fields of all kinds, two states of which one is a thousand times larger, or one in whole pages.
class EncodedBlocks : public ::testing::TestWithParam<CodecName> {
 protected:
  static constexpr std::int64_t kNumbers = 40'001;  // two pieces, the last one odd
  static constexpr std::int64_t kInMany = 420'000;  // 3.4 MB: 13 pieces, four calls
  static constexpr double kRelative = 1e-4;

  EncodedBlocks() {
    fields_[5].shape = {31, 40, 50};
    fields_[6].shape = {3, 20'011};
    fields_[7].tolerance = 1e-2;
    fields_[8].tolerance = 0;
  }
  Encoding encoding() const {
    return encoding_of({GetParam()}, is_lossy(GetParam()) ? kRelative : 0, fields_);
  }
  // Random integers; the numbers that must not be changed are none.
  static const std::vector<std::byte>& bytes_of(const Field& field, std::int64_t state) {
    static std::map<std::pair<std::string, std::int64_t>, std::vector<std::byte>> made;
    std::vector<std::byte>& bytes = made[{field.name, state}];
    if (bytes.size() == static_cast<std::size_t>(field.bytes())) return bytes;
    bytes.resize(static_cast<std::size_t>(field.bytes()));
    using reals = std::numeric_limits<double>;
    const double odds[] = {reals::quiet_NaN(), -reals::infinity(), reals::denorm_min(), -0.0};
    std::mt19937_64 draw(1);
    constexpr std::int64_t kHalf = kInMany / 2;  // of numbers that become fewer bytes
    const std::int64_t width = field.type == ANADROME_FLOAT32 ? 4 : 8;
    const double scale = (state == 0) == (width == 8) ? 1000 : 1;
    for (std::int64_t i = 0; i < field.bytes() / width; ++i) {
      double real = scale * (2 + std::sin(0.01 * static_cast<double>(i)));
      if (field.tolerance == 0) real = odds[i % 4];
      if (field.type == ANADROME_INT64)
        real = std::bit_cast<double>(draw() >> (i < kHalf ? 32 : 0));
      const float single = width == 4 ? static_cast<float>(real) : 0;
      std::memcpy(&bytes[static_cast<std::size_t>(i * width)],
                  width == 4 ? static_cast<const void*>(&single) : &real,
                  static_cast<std::size_t>(width));
    }
    return bytes;
  }
  void fill_all(EncodedBench& s, std::byte between = {}) const {
    s.clear(between);
    s.each([&](std::int64_t state, std::size_t f, std::byte* to) {
      std::ranges::copy(bytes_of(fields_[f], state), to);
    });
  }
  void expect_close(const Field& field, std::int64_t state, const std::byte* found) const {
    const std::vector<std::byte>& wanted = bytes_of(field, state);
    const std::span<const std::byte> back(found, wanted.size());
    const std::int64_t width = field.type == ANADROME_FLOAT32 ? 4 : 8;
    const bool single = GetParam() == CodecName::kFloat32;
    const bool exact = !is_lossy(GetParam()) || field.type == ANADROME_INT64 || field.count == 0 ||
                       field.tolerance == 0 || (single && width == 4);
    EXPECT_EQ(std::equal(wanted.begin(), wanted.end(), back.begin()), exact) << field.name;
    if (exact) return;
    const double most = magnitudes_of(wanted, width).usual;
    const double tolerance = single                 ? std::ldexp(most, -24)
                             : field.tolerance >= 0 ? field.tolerance
                                                    : kRelative * most;
    EXPECT_TRUE(are_within(tolerance, wanted, back, width)) << field.name << state;
  }

  std::vector<Field> fields_ = {field_of("integers", ANADROME_INT64, kInMany),
                                field_of("plain", ANADROME_FLOAT64, kNumbers),
                                field_of("single", ANADROME_FLOAT32, kNumbers),
                                field_of("complex", ANADROME_COMPLEX128, 999),
                                field_of("none", ANADROME_FLOAT64, 0),
                                field_of("shaped", ANADROME_FLOAT64, 31 * 40 * 50),
                                field_of("wide", ANADROME_FLOAT64, 3 * 20'011),
                                field_of("absolute", ANADROME_FLOAT64, 5000),
                                field_of("exact", ANADROME_FLOAT64, 5000)};
};

TEST_P(EncodedBlocks, ComeBackWithinTheToleranceOfEachStateAndField) {
  using Case = std::pair<bool, bool>;
  for (const auto& [paged, is_late] : {Case{true, false}, Case{true, true}, Case{false, false}}) {
    std::optional<test::LateFileSystem> late;
    if (is_late) late.emplace();
    EncodedBench s(fields_, paged, encoding());
    EXPECT_EQ(s.transport->is_lossy(), is_lossy(GetParam()));
    fill_all(s);
    const std::vector<std::byte> before = s.bytes();
    std::vector<std::byte> read;
    for (const std::int64_t block : {1, 0, 1}) {  // in the place of another
      s.transfer.identity.block = s.transfer.place = block;
      fill_all(s);
      ASSERT_FALSE(s.carry_out(true)) << s.transfer.failure.message;
      EXPECT_EQ(s.transfer.encoded.exact, !is_lossy(GetParam()));
      EXPECT_EQ(s.bytes(), before) << "what is in memory stays as it is";
      EXPECT_LT(s.transport->totals().bytes_written, s.transport->totals().bytes_encoded);
      EXPECT_TRUE(!paged || ends_with_zeros(s)) << "old memory is on disk";
      s.clear();
      ASSERT_FALSE(s.carry_out(false)) << s.transfer.failure.message;
      s.each([&](std::int64_t state, std::size_t f, const std::byte* from) {
        expect_close(fields_[f], state, from);
      });
      read = s.bytes();
    }

    fill_all(s);
    s.transfer.change = is_lossy(GetParam()) ? 1 : 0;
    ASSERT_FALSE(s.carry_out(false));
    s.transfer.change = 0;
    EXPECT_EQ(s.bytes(), read) << "in memory a block becomes what a read brings";

    fill_all(s, std::byte{0x5a});  // whatever lies between states
    ASSERT_FALSE(s.carry_out(true));
    ASSERT_FALSE(s.carry_out(false));
    s.each([&](std::int64_t, std::size_t f, const std::byte* from) {
      const auto bytes = static_cast<std::size_t>(fields_[f].bytes());
      EXPECT_EQ(std::memcmp(from, read.data() + (from - s.pool.address(0)), bytes), 0)
          << fields_[f].name;
    });

    fill_all(s);
    s.transfer.exact = true;
    ASSERT_FALSE(s.carry_out(true));
    EXPECT_TRUE(s.transfer.encoded.exact);
    s.clear();
    ASSERT_FALSE(s.carry_out(false));
    EXPECT_EQ(s.bytes(), before);
  }
}

// As from a file that somebody has changed.
TEST_P(EncodedBlocks, AreRefusedWithPiecesThatCannotBe) {
  test::LateFileSystem late;
  EncodedBench s(fields_, true, encoding());
  fill_all(s);
  ASSERT_FALSE(s.carry_out(true));
  using Pieces = std::vector<std::int64_t>;
  const Pieces pieces = s.transfer.encoded.pieces;
  std::vector<Pieces> wrong(3, pieces);
  wrong[0].pop_back();
  --wrong[1].front();
  // While those before it in its field are being read.
  wrong[2][static_cast<std::size_t>(pieces.front())] = std::int64_t{1} << 40;
  for (const std::int64_t number :
       {std::int64_t{-1}, std::int64_t{0}, 8 * kPieceBytes + 8, 9 * kPieceBytes + 3,
        std::int64_t{7 + 80}, std::int64_t{2 + 80}, std::int64_t{1} << 40}) {
    wrong.push_back(pieces);
    wrong.back()[1] = number;
  }
  for (const Pieces& those : wrong) {
    s.transfer.encoded.pieces = those;
    EXPECT_EQ(s.carry_out(false).status, ANADROME_ERR_CORRUPT) << &those - wrong.data();
    EXPECT_TRUE(test::has_part(s.transfer.failure.message, s.file.path));
  }
  EXPECT_EQ(late.under_way(), 0) << "what fails waits for what is under way";
}

INSTANTIATE_TEST_SUITE_P(All, EncodedBlocks,
                         ::testing::Values(CodecName::kLz4, CodecName::kFloat32, CodecName::kRound,
                                           CodecName::kZfp));

TEST(Codec, IsRefusedByHdf5) {
  TransportOptions options;
  options.encoding = Encoding{};
  const BlockLayout layout({1, true}, std::vector<Field>{});
  EXPECT_THROW(make_mpio_transport(layout, options, {}, MPI_COMM_NULL), Error);
}

// ---- in a tier ----

struct CodecBench : TierBench {
  explicit CodecBench(const Codecs& codecs, double tolerance = -1, const TierShape& shape = {})
      : TierBench(shape, [&](const BlockLayout& made) {
          TransportOptions options;
          options.encoding = Encoding{codecs, {{.number_bytes = 8}}};
          if (tolerance >= 0) options.encoding->fields[0] = {.number_bytes = 8, .real_bytes = 8};
          if (tolerance >= 0) options.encoding->fields[0].tolerance = tolerance;
          return make_direct_transport(made, options);
        }) {}
  template <class Value>
  void keep_and_write_doubles(std::int64_t number, const Value& value) {
    for (std::size_t i = 0; i < values.all.size(); ++i)
      values.all[i] = std::bit_cast<std::int64_t>(double{value(static_cast<double>(i))});
    tier->keep({number, number});
    tier->write_newest_block();
  }
};

// Both copies have one description, whatever else is on its way, and several codecs compete.
TEST(Codec, DescribesBothCopiesOfStepZero) {
  for (const Codecs& codecs :
       {Codecs{CodecName::kLz4}, Codecs{CodecName::kRound, CodecName::kZfp}}) {
    CodecBench s(codecs);
    for (std::int64_t anchor = 0; anchor < 3; ++anchor) s.keep_and_write(anchor, 10 * anchor);
    s.tier->flush();
    for (std::int64_t anchor = 2; anchor >= 0; --anchor) s.tier->drop(anchor);
    EXPECT_TRUE(s.brings_back(0, 0));
    s.tier->drop(0);
    EXPECT_TRUE(s.tier->lose(0));
    EXPECT_TRUE(s.brings_back(0, 0));
  }
}

TEST(Codec, ChangesAStateOnce) {
  for (const CodecName codec : {CodecName::kFloat32, CodecName::kRound, CodecName::kZfp}) {
    CodecBench s({codec}, 1e-2);
    s.keep_and_write(0, 0);
    s.keep_and_write_doubles(1, [](double i) { return 100 + 0.37 * i; });
    s.tier->restore({1, 1});
    const auto once = s.values.all;
    s.tier->flush();
    s.tier->drop(1);
    EXPECT_FALSE(s.tier->load(1));
    s.tier->restore({1, 1});
    EXPECT_EQ(s.values.all, once) << static_cast<int>(codec);
  }
}

// Of two codecs that compete, the one that wrote a block changes it in memory.
TEST(CompetingCodecs, MakeOfABlockInMemoryWhatAReadBrings) {
  constexpr std::int64_t kAnchors = 6;
  CodecBench s({CodecName::kRound, CodecName::kZfp}, 1e-2, {.pool_blocks = kAnchors + 1});
  for (std::int64_t anchor = 0; anchor < kAnchors; ++anchor) {
    const auto phase = static_cast<double>(anchor);
    s.keep_and_write_doubles(anchor, [=](double i) { return std::sin(0.01 * i + phase); });
  }
  s.tier->flush();
  s.tier->set_prefetch_depth(2);
  std::vector<std::vector<std::int64_t>> changed(kAnchors);
  for (std::int64_t anchor = kAnchors; anchor-- > 1;) {
    if (anchor % 2 == 1) s.tier->prefetch(anchor);  // the next one ahead, or where it is restored
    ASSERT_FALSE(s.tier->load(anchor));
    s.tier->restore({anchor, anchor});
    changed[static_cast<std::size_t>(anchor)] = s.values.all;
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
    const auto wanted = std::as_bytes(std::span(changed[static_cast<std::size_t>(anchor)]));
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), read.bytes)) << anchor;
  }
}

}  // namespace
}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// Codecs between a block and the disk: one that keeps the length of what it is given, and one that
// does not.
#include "store/codec.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "store/mpio_transport.h"
#include "tier_bench.h"

namespace anadrome::store {
namespace {

class Xor final : public Codec {
 public:
  std::int64_t encode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from.size() > to.size()) return 0;
    flip(from, to);
    return static_cast<std::int64_t>(from.size());
  }
  void decode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    flip(from, to);
  }

 private:
  static void flip(std::span<const std::byte> from, std::span<std::byte> to) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] ^ std::byte{0x5a};
  }
};

// Words that are all one number become this number.
class OneNumber final : public Codec {
 public:
  std::int64_t encode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    const bool one = from.size() > kWord &&
                     std::memcmp(from.data(), from.data() + kWord, from.size() - kWord) == 0;
    if (!one) return 0;
    std::memcpy(to.data(), from.data(), kWord);
    return kWord;
  }
  void decode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    for (std::size_t i = 0; i + kWord <= to.size(); i += kWord)
      std::memcpy(to.data() + i, from.data(), kWord);
  }

 private:
  static constexpr std::size_t kWord = 8;
};

struct Bench : TierBench {
  explicit Bench(std::shared_ptr<const Codec> codec, const TierShape& shape = {})
      : TierBench(shape, [codec](const BlockLayout& made) {
          TransportOptions options;
          options.codec = codec;
          return make_direct_transport(made, options);
        }) {}
  void keep_and_drop_all(std::int64_t anchors) {
    for (std::int64_t anchor = 0; anchor < anchors; ++anchor) keep_and_write(anchor, 10 * anchor);
    tier->flush();
    for (std::int64_t anchor = anchors - 1; anchor >= 0; --anchor) tier->drop(anchor);
  }
  std::int64_t first_number_on_disk(std::int64_t block) const {
    const File file = File::open(disk.file.path, O_RDONLY);
    std::int64_t number = 0;
    EXPECT_EQ(::pread(file.get(), &number, sizeof number, byte_of(block)), 8);
    return number;
  }
  void flip_bit_on_disk(std::int64_t block) const {
    const std::int64_t number = first_number_on_disk(block) ^ 1;
    File::open(disk.file.path, O_WRONLY).write_all(&number, sizeof number, byte_of(block));
  }
  std::int64_t byte_of(std::int64_t block) const { return disk.file.segment.byte_of(block, 0); }
};

TEST(Codec, IsBetweenTheBlockAndTheDisk) {
  for (const std::int64_t states : {1, 3}) {
    Bench s(std::make_shared<Xor>(), {.states = states});
    s.keep_and_drop_all(3);
    EXPECT_EQ(s.first_number_on_disk(0), 100 ^ 0x5a5a5a5a5a5a5a5a);
    for (std::int64_t anchor = 2; anchor >= 0; --anchor) {
      EXPECT_TRUE(s.brings_back(anchor, 10 * anchor));
    }
  }
}

TEST(Codec, EncodesTheSecondCopyOfStepZeroToo) {
  Bench s(std::make_shared<Xor>());
  s.keep_and_drop_all(1);
  EXPECT_TRUE(s.tier->lose(0));
  EXPECT_TRUE(s.brings_back(0, 0));
}

TEST(Codec, MovesNoMoreThanItMade) {
  Bench s(std::make_shared<OneNumber>(), {.states = 3});
  s.keep(0, 7);  // three states of one number fill the block
  s.keep(1, 7);
  s.keep(2, 7);
  s.tier->write_newest_block();
  s.tier->flush();
  EXPECT_EQ(s.transport->totals().bytes_written, 2 * kPage) << "a page, and one for the copy";
  s.tier->drop(0);
  EXPECT_TRUE(s.brings_back(1, 7));
  EXPECT_EQ(s.transport->totals().bytes_read, kPage);
}

TEST(Codec, LeavesAPartAsItIsWhereItDoesNotPay) {
  Bench s(std::make_shared<OneNumber>());
  for (std::int64_t anchor = 0; anchor < 3; ++anchor) {
    s.values.set(100 + anchor);
    if (anchor == 1) s.values.all[5] = 0;
    s.tier->keep({anchor, anchor, {}});
    s.tier->write_newest_block();
  }
  s.tier->flush();
  for (std::int64_t anchor = 2; anchor >= 0; --anchor) s.tier->drop(anchor);
  EXPECT_TRUE(s.brings_back(2, 2));
  EXPECT_TRUE(s.brings_back(0, 0)) << "the length of each block is known";
  EXPECT_FALSE(s.brings_back(1, 1));
  EXPECT_EQ(s.values.all[4], 101);
  EXPECT_EQ(s.values.all[5], 0);
}

TEST(Codec, WorksOnStatesOfSeveralSizes) {
  Bench s(std::make_shared<Xor>(), {.rules = BlockKeeper::Rules::kPlanned, .units = 2});
  const Region region = {1, 1};
  s.keep(0, 30, region);
  s.tier->write({0, 30, region});
  s.tier->drop(0);
  s.tier->read({0, 30, {0, 1}});
  EXPECT_TRUE(s.brings_back(0, 30));
}

TEST(Codec, FindsADamagedBlockByTheBytesThatAreOnDisk) {
  for (const bool shorter : {false, true}) {
    std::shared_ptr<const Codec> codec = std::make_shared<Xor>();
    if (shorter) codec = std::make_shared<OneNumber>();
    Bench s(codec);
    s.keep_and_drop_all(2);
    s.flip_bit_on_disk(1);
    EXPECT_EQ(s.tier->load(1).status, ANADROME_ERR_CORRUPT);
    EXPECT_TRUE(s.brings_back(0, 0));
  }
}

// A part of a block of no bytes, and one of a few.
TEST(Codec, IsAskedForEveryPartOfABlock) {
  std::vector<unsigned char> none, few(5, 9);
  Field first, second;
  first.name = "none";
  second.name = "few";
  second.count = 5;
  second.values = few.data();
  const std::vector<Field> fields = {first, second};
  const BlockLayout layout({1, false}, fields);
  Pool pool(layout.block_bytes(), 1);
  SegmentFile file(layout, fields, 1, DirectIo::kOff);  // no whole pages
  TransportOptions options;
  options.codec = std::make_shared<Xor>();
  const auto transport = make_direct_transport(layout, options);
  std::memset(pool.address(0), 9, 5);
  Transfer transfer;
  transfer.write = true;
  transfer.segment = &file.segment;
  transfer.bytes = pool.address(0);
  transfer.identity.states = 1;
  transport->start(transfer);
  transport->wait(transfer);
  ASSERT_FALSE(transfer.failure) << transfer.failure.message;
  EXPECT_EQ(transfer.lengths, (std::vector<std::int64_t>{0, 8})) << "on 8 bytes";
  std::memset(pool.address(0), 0, 8);
  transfer.write = false;
  transport->start(transfer);
  transport->wait(transfer);
  EXPECT_FALSE(transfer.failure) << transfer.failure.message;
  EXPECT_EQ(std::memcmp(pool.address(0), few.data(), 5), 0);
}

TEST(Codec, IsRefusedByHdf5) {
  const BlockLayout layout({1, true}, std::vector<Field>{});
  TransportOptions options;
  options.codec = std::make_shared<Xor>();
  EXPECT_THROW(make_mpio_transport(layout, options, {}, MPI_COMM_NULL), Error);
}

}  // namespace
}  // namespace anadrome::store

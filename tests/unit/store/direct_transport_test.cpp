// SPDX-License-Identifier: BSD-2-Clause
// The transport that reads and writes at offsets, and what checksums cover.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <future>
#include <utility>

#include "file_systems.h"
#include "has_part.h"
#include "segment_file.h"
#include "store/memory/pool.h"
#include "store/moving/transport.h"

namespace anadrome::store {
namespace {

constexpr std::int64_t kBlocks = 6;

// Blocks in a pool, a segment for them, and the transport between the two.
struct DirectBench {
  explicit DirectBench(const BlockShape& shape = {1, true}, std::int64_t count = 5000,
                       const TransportOptions& options = {},
                       TransportName how = TransportName::kAuto)
      : fields(two_fields(count)),
        layout(shape, fields),
        pool(layout.block_bytes(), kBlocks),
        file(layout, fields, kBlocks, how),
        transport(make_direct_transport(layout, options)) {}

  Transfer transfer(bool write, std::int64_t block) {
    Transfer made;
    made.write = write;
    made.segment = &file.segment;
    made.bytes = pool.address(block);
    made.identity.run_id_low = 77;
    made.identity.sweep = 1;
    made.identity.block = block;
    made.place = block;
    made.identity.first_step = 10 * block;
    made.identity.states = layout.states();
    return made;
  }

  Checksum write(std::int64_t block, char content) {
    std::memset(pool.address(block), content, static_cast<std::size_t>(layout.block_bytes()));
    Transfer made = transfer(true, block);
    EXPECT_FALSE(carry_out(made)) << made.failure.message;
    return made.checksum;
  }

  Failure carry_out(Transfer& made) {
    transport->start(made);
    transport->wait(made);
    EXPECT_TRUE(transport->done(made));
    return made.failure;
  }

  // Clears the block's memory and reads it.
  Failure read(std::int64_t block, const Checksum& checksum) {
    std::memset(pool.address(block), 0, static_cast<std::size_t>(layout.block_bytes()));
    Transfer made = transfer(false, block);
    made.checksum = checksum;
    return carry_out(made);
  }

  bool memory_is(std::int64_t block, char content) const {
    const std::byte* bytes = pool.address(block);
    return bytes[0] == static_cast<std::byte>(content) &&
           std::memcmp(bytes, bytes + 1, static_cast<std::size_t>(layout.block_bytes()) - 1) == 0;
  }

  void flip_byte_on_disk(std::int64_t block, std::size_t field) const {
    const off_t offset = file.segment.byte_of(block, field) + 3;
    const File raw = File::open(file.path, O_RDWR);
    char byte = 0;
    raw.read_all(&byte, 1, offset);
    byte = static_cast<char>(byte ^ 1);
    raw.write_all(&byte, 1, offset);
  }

  std::vector<Field> fields;
  BlockLayout layout;
  Pool pool;
  SegmentFile file;
  std::unique_ptr<Transport> transport;
};

TEST(DirectTransport, BringsBackWhatItWrote) {
  for (const TransportName how : {TransportName::kAuto, TransportName::kBuffered}) {
    for (const BlockShape& shape : {BlockShape{1, true}, {3, true}, {512, false}}) {
      DirectBench bench(shape, 50, {}, how);
      std::vector<Checksum> sums;
      for (std::int64_t b = 0; b < kBlocks; ++b) {
        sums.push_back(bench.write(b, static_cast<char>('a' + b)));
      }
      for (std::int64_t b = kBlocks - 1; b >= 0; --b) {
        EXPECT_FALSE(bench.read(b, sums[static_cast<std::size_t>(b)]));
        EXPECT_TRUE(bench.memory_is(b, static_cast<char>('a' + b)));
      }
      EXPECT_EQ(bench.transport->totals().bytes_written, kBlocks * bench.layout.block_bytes());
      EXPECT_EQ(bench.transport->totals().bytes_read, kBlocks * bench.layout.block_bytes());
    }
  }
}

TEST(DirectTransport, SaysOnceThatItsCallerHasWaitedForLong) {
  std::promise<void> answer;
  int said = 0;
  TransportOptions options;
  options.patience = 0;
  options.late = [&](bool write) {
    EXPECT_TRUE(write);
    ++said;
    answer.set_value();
  };
  DirectBench bench({1, true}, 50, options);
  Transfer made = bench.transfer(true, 0);
  made.task = [disk = answer.get_future().share()] { disk.wait(); };
  EXPECT_FALSE(bench.carry_out(made));
  EXPECT_EQ(said, 1);
}

TEST(DirectTransport, FindsAFlippedByteInAnyFieldAndATruncatedFile) {
  for (const std::size_t field : {0u, 1u}) {
    DirectBench bench;
    const Checksum sum = bench.write(2, 'c'), last = bench.write(kBlocks - 1, 'f');
    bench.flip_byte_on_disk(2, field);
    const Failure failure = bench.read(2, sum);
    EXPECT_EQ(failure.status, ANADROME_ERR_CORRUPT);
    EXPECT_TRUE(test::has_part(failure.message, "step 20"));
    EXPECT_TRUE(test::has_part(failure.message, bench.file.path));
    EXPECT_FALSE(bench.read(kBlocks - 1, last));
    ASSERT_EQ(::truncate(bench.file.path.c_str(), bench.file.segment.byte_of(kBlocks - 1, field)),
              0);
    EXPECT_EQ(bench.read(kBlocks - 1, last).status, ANADROME_ERR_CORRUPT);
  }
}

TEST(DirectTransport, FindsTheBlockOfAnotherStepBlockSweepOrRun) {
  DirectBench bench;
  const Checksum sum = bench.write(2, 'c');
  EXPECT_FALSE(bench.read(2, sum));
  const BlockIdentity right = bench.transfer(false, 2).identity;
  std::array<BlockIdentity, 4> others = {right, right, right, right};
  others[0].first_step = 21;
  others[1].sweep = 2;
  others[2].run_id_low = 1;
  others[3].block = 3;
  for (const BlockIdentity& other : others) {
    Transfer made = bench.transfer(false, 2);
    made.checksum = sum;
    made.identity = other;
    EXPECT_EQ(bench.carry_out(made).status, ANADROME_ERR_CORRUPT) << &other - others.data();
  }
}

TEST(DirectTransport, ReportsAFailedWriteAndGoesOn) {
  bool full = false;
  test::RecordingFileSystem files(
      [&](const test::RecordingFileSystem::Call& call, ssize_t& result) {
        result = -ENOSPC;
        return full && call.write;
      });
  DirectBench bench;
  full = true;
  Transfer failing = bench.transfer(true, 0);
  EXPECT_EQ(bench.carry_out(failing).status, ANADROME_ERR_NO_SPACE);
  full = false;
  const Checksum sum = bench.write(1, 'b');
  EXPECT_FALSE(bench.read(1, sum));
}

TEST(DirectTransport, ReadsBeforeItWritesAndWhatIsUrgentFirst) {
  std::promise<void> held, release;
  std::atomic<bool> hold = false;
  test::RecordingFileSystem files([&](const test::RecordingFileSystem::Call&, ssize_t&) {
    if (!hold.exchange(false)) return false;
    held.set_value();
    release.get_future().wait();
    return false;
  });
  DirectBench bench({1, true}, 512);
  const std::array<Checksum, 2> sums = {bench.write(3, 'd'), bench.write(4, 'e')};
  const std::size_t before = files.calls().size();
  hold = true;
  std::array<Transfer, 6> all;
  const std::array<std::int64_t, 6> blocks = {0, 1, 3, 4, 2, 5};  // two writes, two reads, two more
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = bench.transfer(i != 2 && i != 3, blocks[i]);
    all[i].urgent = i >= 3;
    if (!all[i].write) all[i].checksum = sums[i - 2];
    bench.transport->start(all[i]);
    if (i == 0) held.get_future().wait();
  }
  EXPECT_FALSE(bench.transport->done(all[0]));
  release.set_value();
  for (const Transfer& transfer : all) {
    bench.transport->wait(transfer);
    EXPECT_FALSE(transfer.failure);
  }

  const std::vector<test::RecordingFileSystem::Call> calls = files.calls();
  ASSERT_EQ(calls.size(), before + 12);  // two fields each
  const std::vector<std::pair<bool, std::int64_t>> order = {{true, 0}, {false, 4}, {false, 3},
                                                            {true, 2}, {true, 5},  {true, 1}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(calls[before + 2 * i].write, order[i].first);
    EXPECT_EQ(calls[before + 2 * i].offset, bench.file.segment.byte_of(order[i].second, 0));
  }
}

// The largest single transfer of a large block under a limit.
std::size_t largest_call(std::int64_t bytes_per_second) {
  test::RecordingFileSystem files;
  TransportOptions options;
  options.bytes_per_second = bytes_per_second;
  DirectBench bench({1, true}, 3 << 20, options);
  const std::size_t before = files.calls().size();
  bench.write(0, 'a');
  std::size_t largest = 0, moved = 0;
  const auto calls = files.calls();
  for (std::size_t c = before; c < calls.size(); ++c) {
    largest = std::max(largest, calls[c].count);
    moved += calls[c].count;
  }
  EXPECT_EQ(moved, static_cast<std::size_t>(bench.layout.block_bytes()));
  return largest;
}

TEST(DirectTransport, MovesAboutEightMebibytesAtOnceAndLessInMoreTimeUnderALimit) {
  EXPECT_EQ(largest_call(0), std::size_t{8} << 20);
  EXPECT_LE(largest_call(std::int64_t{200} << 20), std::size_t{4} << 20);
  TransportOptions options;
  options.bytes_per_second = 8 << 20;
  DirectBench bench({1, true}, 32768, options);
  Transfer made = bench.transfer(true, 0);
  EXPECT_FALSE(bench.carry_out(made));
  EXPECT_GE(made.seconds, static_cast<double>(bench.layout.block_bytes()) / (8 << 20));
}

TEST(DirectTransport, MovesOnlyThePagesInUseOfAPartlyFilledBlock) {
  test::RecordingFileSystem files;
  DirectBench bench({512, false}, 16);
  const std::size_t before = files.calls().size();
  Transfer made = bench.transfer(true, 0);
  made.identity.states = 33;
  EXPECT_FALSE(bench.carry_out(made));
  const auto calls = files.calls();
  ASSERT_EQ(calls.size(), before + 2);
  EXPECT_EQ(calls[before].count, 2u * 4096u);  // 33 states of 128 bytes
  EXPECT_EQ(calls[before + 1].count, 4096u);   // 33 states of 16 bytes
  Transfer back = bench.transfer(false, 0);
  back.identity.states = 33;
  back.checksum = made.checksum;
  EXPECT_FALSE(bench.carry_out(back));
}

TEST(DirectTransport, FinishesWhatWasStartedBeforeItEnds) {
  DirectBench bench;
  std::vector<Transfer> transfers;
  for (std::int64_t b = 0; b < kBlocks; ++b) transfers.push_back(bench.transfer(true, b));
  for (Transfer& made : transfers) bench.transport->start(made);
  bench.transport.reset();
  for (const Transfer& made : transfers) {
    EXPECT_TRUE(made.done);
    EXPECT_FALSE(made.failure);
  }
}

// ---- checksums ----

// A field of two numbers and one of 13 bytes.
struct TransportBench {
  explicit TransportBench(const BlockShape& shape)
      : layout(shape, two_fields(2)), bytes(static_cast<std::size_t>(layout.block_bytes())) {
    transfer.bytes = bytes.data();
    transfer.identity.states = shape.states;
  }
  Checksum sum() const { return checksum_of(layout, transfer); }
  BlockLayout layout;
  std::vector<std::byte> bytes;
  Transfer transfer;
};

TEST(BlockChecksum, CoversEveryByteOfTheStatesAndNoPadding) {
  TransportBench s({3, false});
  const Checksum zero = s.sum();
  for (std::int64_t index = 0; index < 3; ++index) {
    for (std::size_t f = 0; f < 2; ++f) {
      const BlockLayout::Part& part = s.layout.parts()[f];
      std::byte* state = s.layout.address(s.bytes.data(), index, f);
      for (std::int64_t i = 0; i < part.stride; ++i) {
        state[i] = std::byte{1};
        EXPECT_EQ(s.sum() == zero, i >= part.bytes) << index << " " << f << " " << i;
        state[i] = std::byte{0};
      }
    }
  }
}

TEST(BlockChecksum, CoversNoMoreThanTheExtentsOfAStateThatIsSmaller) {
  TransportBench s({1, true});
  s.transfer.extents = {{0, 5}, {kPage, 8}};
  const Checksum zero = s.sum();
  for (const auto& [byte, covered] :
       {std::pair{std::int64_t{4}, true}, {5, false}, {kPage + 8, false}}) {
    s.bytes[static_cast<std::size_t>(byte)] = std::byte{1};
    EXPECT_EQ(s.sum() == zero, !covered) << byte;
    s.bytes[static_cast<std::size_t>(byte)] = std::byte{0};
  }
  s.transfer.extents = {{kPage, 5}, {0, 0}};
  EXPECT_EQ(moved_extent(s.layout, s.transfer, 0).offset, kPage);
  EXPECT_EQ(moved_extent(s.layout, s.transfer, 0).bytes, kPage);
  EXPECT_EQ(moved_extent(s.layout, s.transfer, 1).bytes, 0);
}

}  // namespace
}  // namespace anadrome::store

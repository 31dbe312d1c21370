// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <future>
#include <mutex>
#include <utility>

#include "has_part.h"
#include "recording_file_system.h"
#include "segment_file.h"
#include "store/memory/pool.h"
#include "store/moving/transport.h"

namespace anadrome::store {
namespace {

constexpr std::int64_t kBlocks = 6;

std::vector<Field> two_fields(std::int64_t count) {
  return {{"values", ANADROME_ROLE_STATE, ANADROME_FLOAT64, count, false, nullptr, {}},
          {"marks", ANADROME_ROLE_STATE, ANADROME_BYTE, 13, false, nullptr, {}}};
}

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
    const int descriptor = ::open(file.path.c_str(), O_RDWR | O_CLOEXEC);
    char byte = 0;
    ASSERT_EQ(::pread(descriptor, &byte, 1, offset), 1);
    byte = static_cast<char>(byte ^ 1);
    ASSERT_EQ(::pwrite(descriptor, &byte, 1, offset), 1);
    ::close(descriptor);
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

TEST(DirectTransport, FindsAFlippedByteInAnyField) {
  for (const std::size_t field : {0u, 1u}) {
    DirectBench bench;
    const Checksum sum = bench.write(2, 'c');
    bench.flip_byte_on_disk(2, field);
    const Failure failure = bench.read(2, sum);
    EXPECT_EQ(failure.status, ANADROME_ERR_CORRUPT);
    EXPECT_TRUE(test::has_part(failure.message, "step 20"));
    EXPECT_TRUE(test::has_part(failure.message, bench.file.path));
  }
}

TEST(DirectTransport, FindsTheBlockOfAnotherStepBlockOrSweep) {
  DirectBench bench;
  const Checksum sum = bench.write(2, 'c');
  EXPECT_FALSE(bench.read(2, sum));
  const auto read_as = [&](auto change) {
    Transfer made = bench.transfer(false, 2);
    made.checksum = sum;
    change(made.identity);
    return bench.carry_out(made).status;
  };
  EXPECT_EQ(read_as([](BlockIdentity& i) { i.first_step = 21; }), ANADROME_ERR_CORRUPT);
  EXPECT_EQ(read_as([](BlockIdentity& i) { i.sweep = 2; }), ANADROME_ERR_CORRUPT);
  EXPECT_EQ(read_as([](BlockIdentity& i) { i.run_id_low = 1; }), ANADROME_ERR_CORRUPT);
  EXPECT_EQ(read_as([](BlockIdentity& i) { i.block = 3; }), ANADROME_ERR_CORRUPT);
}

TEST(DirectTransport, ReportsATruncatedFile) {
  DirectBench bench;
  const Checksum sum = bench.write(kBlocks - 1, 'f');
  ASSERT_EQ(::truncate(bench.file.path.c_str(), bench.file.segment.byte_of(kBlocks - 1, 0)), 0);
  EXPECT_EQ(bench.read(kBlocks - 1, sum).status, ANADROME_ERR_CORRUPT);
}

TEST(DirectTransport, ReportsAFailedWriteAndGoesOn) {
  bool full = false;
  RecordingFileSystem files([&](const RecordingFileSystem::Call& call, ssize_t& result) {
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
  std::mutex mutex;
  std::condition_variable changed;
  bool held = false, release = false, hold = false;
  RecordingFileSystem files([&](const RecordingFileSystem::Call&, ssize_t&) {
    std::unique_lock lock(mutex);
    if (!hold) return false;
    hold = false;
    held = true;
    changed.notify_all();
    changed.wait(lock, [&] { return release; });
    return false;
  });
  DirectBench bench({1, true}, 512);
  const Checksum sum = bench.write(3, 'd'), other_sum = bench.write(4, 'e');
  const std::size_t before = files.calls().size();
  Transfer first = bench.transfer(true, 0), second = bench.transfer(true, 1);
  Transfer read = bench.transfer(false, 3), urgent = bench.transfer(false, 4);
  Transfer urgent_write = bench.transfer(true, 2), next_urgent = bench.transfer(true, 5);
  urgent_write.urgent = next_urgent.urgent = true;
  read.checksum = sum;
  urgent.checksum = other_sum;
  urgent.urgent = true;

  {
    const std::lock_guard lock(mutex);
    hold = true;
  }
  bench.transport->start(first);
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return held; });
  }
  bench.transport->start(second);
  bench.transport->start(read);
  bench.transport->start(urgent);
  bench.transport->start(urgent_write);
  bench.transport->start(next_urgent);
  EXPECT_FALSE(bench.transport->done(first));
  {
    const std::lock_guard lock(mutex);
    release = true;
  }
  changed.notify_all();
  for (const Transfer* transfer : {&first, &second, &read, &urgent, &urgent_write, &next_urgent}) {
    bench.transport->wait(*transfer);
    EXPECT_FALSE(transfer->failure);
  }

  const std::vector<RecordingFileSystem::Call> calls = files.calls();
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
  RecordingFileSystem files;
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

TEST(DirectTransport, MovesAboutEightMebibytesAtOnce) {
  EXPECT_EQ(largest_call(0), std::size_t{8} << 20);
}

TEST(DirectTransport, DividesTransfersEvenlyUnderALimit) {
  EXPECT_LE(largest_call(std::int64_t{200} << 20), std::size_t{4} << 20);
}

TEST(DirectTransport, CountsNoLessTimeThanTheLimitAsks) {
  TransportOptions options;
  options.bytes_per_second = 8 << 20;
  DirectBench bench({1, true}, 32768, options);
  Transfer made = bench.transfer(true, 0);
  EXPECT_FALSE(bench.carry_out(made));
  EXPECT_GE(made.seconds, static_cast<double>(bench.layout.block_bytes()) / (8 << 20));
}

TEST(DirectTransport, MovesOnlyThePagesInUseOfAPartlyFilledBlock) {
  RecordingFileSystem files;
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

}  // namespace
}  // namespace anadrome::store

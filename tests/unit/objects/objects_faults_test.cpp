// SPDX-License-Identifier: BSD-2-Clause
// Objects on disks that fail, or give back other bytes than they got.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "faulty_file_system.h"
#include "forwarding_file_system.h"
#include "object_bench.h"
#include "objects/objects_file.h"

namespace anadrome::store {
namespace {

using test::Fault;
using test::FaultyFileSystem;
using test::Operation;
using Key = Objects::Key;

constexpr std::int64_t kMemoryOfBench = std::int64_t{512} << 10;  // 32 blocks of 16 KiB

TEST(ObjectsOnBadDisks, AreOnDiskThoughOneWriteFailed) {
  FaultyFileSystem disk;
  ObjectBench bench(kMemoryOfBench);
  bench.put_blocks(6);
  disk.arm(Operation::kWrite, 1, Fault::kIoError);
  EXPECT_FALSE(bench.objects.sync());
  EXPECT_TRUE(disk.hit());
}

TEST(ObjectsOnBadDisks, LoseNoPlacesToWritesThatFail) {
  FaultyFileSystem disk;
  ObjectBench bench(kMemoryOfBench, 64);
  bench.put_blocks(64);  // all places are made
  ASSERT_FALSE(bench.objects.sync());
  for (Key key = 0; key < 64; ++key) bench.drop(key);
  disk.arm(Operation::kWrite, 1, Fault::kIoError, true);
  for (Key key = 0; key < 100; ++key) {
    const Failure failure = failure_from([&] { bench.put(key, 16 << 10); });
    EXPECT_TRUE(!failure || failure.status == ANADROME_ERR_IO) << failure.message;
  }
  disk.disarm();
  EXPECT_EQ(bench.objects.sync().message, "");
}

struct Outcome {
  bool hit = false;
  int refused = 0;
};

// A program with a fault in it: what is got is right or refused, and what was not refused stays.
Outcome run_with(Operation operation, std::int64_t at, Fault fault, bool lasting) {
  FaultyFileSystem disk;
  ObjectBench bench(std::int64_t{256} << 10);
  disk.arm(operation, at, fault, lasting);
  Outcome outcome;
  const auto attempt = [&](const std::function<void()>& body) {
    const Failure failure = failure_from(body);
    if (!failure) return;
    ++outcome.refused;
    EXPECT_TRUE(failure.status == ANADROME_ERR_IO || failure.status == ANADROME_ERR_NO_SPACE ||
                failure.status == ANADROME_ERR_CORRUPT)
        << failure.message;
  };
  constexpr Key kObjects = 30;
  for (Key key = 0; key < kObjects; ++key) {
    attempt([&] { bench.put(key, key % 3 == 0 ? 500 : 20000); });
    if (key % 5 == 4 && bench.expected.contains(key - 4)) {
      attempt([&] { EXPECT_TRUE(bench.is_right(key - 4)); });
    }
  }
  for (Key key = kObjects; key-- > 0;) {
    if (!bench.expected.contains(key)) continue;
    attempt([&] { EXPECT_TRUE(bench.is_right(key)) << key; });
    if (key % 2 == 0) attempt([&] { bench.drop(key); });
  }
  outcome.hit = disk.hit();
  disk.disarm();
  return outcome;
}

TEST(ObjectsOnBadDisks, AreRightOrRefusedWhateverTheDiskDoes) {
  int trials = 0;
  for (const Operation operation : {Operation::kOpen, Operation::kWrite, Operation::kRead,
                                    Operation::kAllocate, Operation::kTruncate, Operation::kSync}) {
    for (std::size_t f = 1; f < test::kFaults; ++f) {
      const auto fault = static_cast<Fault>(f);
      if (!test::applies(fault, operation)) continue;
      for (const bool lasting : {false, true}) {
        for (std::int64_t at = 1;; at = at < 3 ? at + 1 : at + 17) {
          const Outcome outcome = run_with(operation, at, fault, lasting);
          if (!outcome.hit) break;
          ++trials;
          ASSERT_FALSE(HasFailure())
              << to_string(fault) << " at " << to_string(operation) << " " << at;
        }
      }
    }
  }
  EXPECT_GT(trials, 40);
}

TEST(ObjectsOnBadDisks, AreRightOrRefusedWithoutMemoryForATransfer) {
  std::int64_t at = 1;
  for (bool hit = true; hit; ++at) {
    ObjectBench bench(std::int64_t{256} << 10, std::int64_t{1} << 40, true, at);
    const auto attempt = [&](const std::function<void()>& body) {
      const Failure failure = failure_from(body);
      EXPECT_TRUE(!failure || failure.status == ANADROME_ERR_MEMORY) << failure.message;
    };
    constexpr Key kObjects = 30;
    for (Key key = 0; key < kObjects; ++key) attempt([&] { bench.put(key, 17000); });
    for (Key key = kObjects; key-- > 0;) {
      if (bench.expected.contains(key)) attempt([&] { EXPECT_TRUE(bench.is_right(key)) << key; });
    }
    hit = bench.transport->was_hit();
    ASSERT_TRUE(bench.all_are_right());
    for (const Key key : bench.objects.keys()) bench.drop(key);
    EXPECT_FALSE(bench.objects.sync());
    ASSERT_LE(bench.blocks.blocks_in_memory(), 1) << "at " << at;
  }
  EXPECT_GT(at, 40);
}

// One bit of these bytes is another one on disk, in the first file, whose name it returns.
std::string damage(const ObjectBench& bench, const ObjectBench::Bytes& victim) {
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(bench.directory.path())) {
    if (path.empty() || entry.path().string() < path) path = entry.path();
  }
  const File file = File::open(path, O_RDWR);
  std::vector<char> all(std::filesystem::file_size(path));
  file.read_all(all.data(), all.size(), 0);
  const auto* begin = reinterpret_cast<const char*>(victim.data());
  const auto found = std::search(all.begin(), all.end(), begin, begin + 512);
  EXPECT_NE(found, all.end());
  const char flipped = static_cast<char>(*found ^ 4);
  if (found != all.end()) file.write_all(&flipped, 1, found - all.begin());
  return path;
}

TEST(ObjectsOnBadDisks, GiveOnePartThoughAnotherIsDamagedOnDisk) {
  ObjectBench bench(std::int64_t{256} << 10);
  bench.put(0, 2 * static_cast<std::size_t>(bench.block_bytes()));
  bench.put_blocks(40, 1);
  ASSERT_FALSE(bench.objects.sync());
  auto [a, b] = ObjectBench::split(bench.expected.at(0));
  damage(bench, b);
  const auto status_of = [&, &into = b](const char* part) {
    const std::vector<Objects::Array> arrays = {ObjectBench::array(part, into)};
    return failure_from([&] { bench.objects.get(0, arrays); }).status;
  };
  EXPECT_EQ(status_of("b"), ANADROME_ERR_CORRUPT);
  EXPECT_EQ(status_of("a"), ANADROME_OK);
  EXPECT_EQ(a, b);
}

TEST(ObjectsOnBadDisks, WhoseBytesAreDamagedOnDiskAreNamedAndTheOthersStay) {
  ObjectBench bench(std::int64_t{256} << 10);
  bench.put_blocks(40);
  ASSERT_FALSE(bench.objects.sync());
  const std::string path = damage(bench, bench.expected.at(0));
  int wrong = 0;
  for (Key key = 0; key < 40; ++key) {
    const Failure failure = failure_from([&] { EXPECT_TRUE(bench.is_right(key)); });
    if (!failure) continue;
    ++wrong;
    EXPECT_EQ(failure.status, ANADROME_ERR_CORRUPT);
    EXPECT_EQ(failure.message,
              "object 0 read back from " + path + " is not what was put: its checksum differs");
  }
  EXPECT_EQ(wrong, 1);
}

// Its first page is what HDF5 knows a file by.
TEST(ObjectsFile, GetsItsFirstPageLastAndIsNotLeftWhereItsObjectsDoNotReachTheDisk) {
  struct LastWrite final : test::ForwardingFileSystem {
    ssize_t write(int descriptor, const void* bytes, std::size_t count, off_t at) override {
      offset = at;
      return ForwardingFileSystem::write(descriptor, bytes, count, at);
    }
    off_t offset = -1;
  };
  FaultyFileSystem disk;
  ObjectBench bench(kMemoryOfBench);
  bench.put_blocks(20);
  LastWrite last;
  const std::string path = bench.directory.path() + "/kept.h5";
  const auto write = [&] {
    write_objects_file(bench.objects, FilePlace(path), "0123456789abcdef");
  };
  disk.arm(Operation::kSync, 1, Fault::kIoError);
  EXPECT_THROW(write(), Error);
  EXPECT_FALSE(std::filesystem::exists(path));
  write();
  EXPECT_EQ(last.offset, 0) << "a process that is killed before leaves a file with no states in it";
  EXPECT_GT(std::filesystem::file_size(path), 20 * (16 << 10));
}

}  // namespace
}  // namespace anadrome::store

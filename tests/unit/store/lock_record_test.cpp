// SPDX-License-Identifier: BSD-2-Clause
#include "store/directory/lock_record.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <thread>

#include "caching_file_system.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

constexpr std::int64_t kNow = 1'800'000'000;

LockRecord elsewhere(std::int64_t heartbeat) {
  LockRecord record;
  record.run_id = "0123";
  record.holder = {"node017", "another", 4711, 99};
  record.since = 1'700'000'000;
  record.heartbeat = heartbeat;
  return record;
}

class LockFile : public testing::Test {
 protected:
  const TemporaryDirectory directory;
  const File file = File::open(directory / "lock", O_RDWR | O_CREAT);
};

TEST_F(LockFile, SaysWhatWasWrittenToIt) {
  write_lock(file, elsewhere(kNow));
  const LockRecord record = read_lock(file);
  EXPECT_EQ(record.run_id, "0123");
  EXPECT_EQ(record.holder.host, "node017");
  EXPECT_EQ(record.holder.machine, "another");
  EXPECT_EQ(record.holder.pid, 4711);
  EXPECT_EQ(record.holder.start, 99);
  EXPECT_EQ(record.since, 1'700'000'000);
  EXPECT_EQ(record.heartbeat, kNow);
}

TEST_F(LockFile, IsReplacedAsAWhole) {
  LockRecord record = elsewhere(kNow);
  record.holder.host = std::string(60, 'x');
  write_lock(file, record);
  write_lock(file, elsewhere(kNow));
  EXPECT_EQ(read_lock(file).holder.host, "node017");
}

// The watch keeps the heartbeat, and the caller notes the end.
TEST_F(LockFile, LosesNoChangeOfAnotherThread) {
  write_lock(file, elsewhere(0));
  constexpr int kChanges = 500;
  const auto change = [&](std::int64_t LockRecord::*number) {
    for (int i = 0; i < kChanges; ++i) {
      update_lock(file, "0123", [&](LockRecord& record) { ++(record.*number); });
    }
  };
  const std::int64_t since = read_lock(file).since;
  std::thread watch([&] { change(&LockRecord::heartbeat); });
  change(&LockRecord::since);
  watch.join();
  EXPECT_EQ(read_lock(file).heartbeat, kChanges);
  EXPECT_EQ(read_lock(file).since, since + kChanges);
}

TEST_F(LockFile, OfAnotherRunIsNotChanged) {
  write_lock(file, elsewhere(kNow));
  const auto end = [](LockRecord& record) { record.ended = true; };
  EXPECT_EQ(update_lock(file, "4567", end).run_id, "0123");
  EXPECT_FALSE(read_lock(file).ended);
  update_lock(file, "0123", end);
  EXPECT_TRUE(read_lock(file).ended);
}

TEST_F(LockFile, ThatIsNotWholeNamesNobody) {
  EXPECT_EQ(read_lock(file).holder.pid, 0);
  write_lock(file, elsewhere(kNow));
  std::ifstream whole(directory / "lock");
  const std::string text(std::istreambuf_iterator<char>(whole), {});
  for (std::size_t at = text.find('\n') + 1; at < text.find("\n  "); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    std::ofstream(directory / "lock") << changed;
    EXPECT_EQ(read_lock(file).holder.pid, 0) << at;
  }
  for (std::size_t length = 0; length < 120; ++length) {
    std::filesystem::resize_file(directory / "lock", length);
    EXPECT_EQ(read_lock(file).holder.pid, 0) << length;
  }
}

TEST_F(LockFile, IsReadAnewThoughTheKernelHasIt) {
  const test::CachingFileSystem files;
  for (const std::int64_t heartbeat : {kNow, kNow + 10}) {
    write_lock(file, elsewhere(heartbeat));
    EXPECT_EQ(read_lock(file).heartbeat, heartbeat);
  }
}

TEST_F(LockFile, CannotMoveATerminalsCursor) {
  LockRecord record = elsewhere(kNow);
  record.holder.host = "node\x1b[2J\n17";
  write_lock(file, record);
  EXPECT_EQ(read_lock(file).holder.host, "node?[2J?17");
}

TEST_F(LockFile, WithAHeartbeatBeforeAllTimeIsStale) {
  write_lock(file, elsewhere(std::numeric_limits<std::int64_t>::min()));
  EXPECT_FALSE(is_live(read_lock(file), Flock::kTaken, kNow));
}

TEST(LockHolder, WithTheFlockLives) {
  EXPECT_TRUE(is_live({}, Flock::kHeld, kNow));
  EXPECT_TRUE(is_live(elsewhere(0), Flock::kHeld, kNow));
}

TEST(LockHolder, OnAnotherHostLivesUntilItsHeartbeatIsStale) {
  for (const Flock flock : {Flock::kTaken, Flock::kUnavailable}) {
    EXPECT_TRUE(is_live(elsewhere(kNow), flock, kNow));
    EXPECT_TRUE(is_live(elsewhere(kNow - kStaleSeconds + 1), flock, kNow));
    EXPECT_FALSE(is_live(elsewhere(kNow - kStaleSeconds), flock, kNow));
  }
}

TEST(LockHolder, OnThisHostIsWhatTheKernelSays) {
  LockRecord record = new_lock_record("0123");
  EXPECT_TRUE(is_live(record, Flock::kUnavailable, kNow));
  EXPECT_FALSE(is_live(record, Flock::kTaken, record.heartbeat));
  ++record.holder.start;  // another one has its number now
  EXPECT_FALSE(is_live(record, Flock::kUnavailable, record.heartbeat));
}

TEST(LockHolder, ThatIsUnknownIsDeadWithoutTheFlock) {
  EXPECT_FALSE(is_live({}, Flock::kTaken, kNow));
}

TEST(LockHolder, IsDescribedWithHostProcessAndTimes) {
  EXPECT_EQ(describe_holder(elsewhere(kNow - 4), kNow),
            "process 4711 on node017 since 2023-11-14 22:13:20 UTC, last heartbeat 4 s ago");
}

}  // namespace
}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// Whose a directory is: the lock, the processes that it names, and the heartbeats beside it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/platform/platform.h"
#include "faulty_file_system.h"
#include "file_systems.h"
#include "store/directory/heartbeat_file.h"
#include "store/directory/lock_record.h"
#include "store/directory/process_identity.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

// ---- processes ----

TEST(ProcessIdentity, IsThatOfNoOtherMachineAndOfNoLaterProcess) {
  const ProcessIdentity self = this_process();
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_FALSE(self.host.empty());
  EXPECT_EQ(self.start == 0, platform::kPortable);
  EXPECT_EQ(state_of(self), ProcessState::kRuns);
  EXPECT_EQ(state_of({}), ProcessState::kElsewhere);
  ProcessIdentity process = self;
  process.machine += "2";
  EXPECT_EQ(state_of(process), ProcessState::kElsewhere);
  process = self;
  process.start -= 1;
  EXPECT_EQ(state_of(process), ProcessState::kGone);
}

TEST(ProcessIdentity, TellsStoppedFromEndedProcesses) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, WUNTRACED);
  ProcessIdentity process = this_process();
  process.pid = child;
  // It began within a second of its father, on a clock of 100 ticks.
  for (int ticks = 0; ticks < 100000 && state_of(process) == ProcessState::kGone; ++ticks) {
    ++process.start;
  }
  const bool told = !platform::kPortable;
  EXPECT_EQ(state_of(process), told ? ProcessState::kStopped : ProcessState::kRuns);
  ::kill(child, SIGKILL);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  EXPECT_EQ(state_of(process), told ? ProcessState::kGone : ProcessState::kRuns) << "of a zombie";
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(state_of(process), ProcessState::kGone);
}

// ---- the lock ----

constexpr std::int64_t kNow = 1'800'000'000;

LockRecord elsewhere(std::int64_t heartbeat, const std::string& host = "node017") {
  LockRecord record;
  record.run_id = "0123";
  record.holder = {host, "another", 4711, 99};
  record.since = 1'700'000'000;
  record.heartbeat = heartbeat;
  return record;
}

class LockFile : public testing::Test {
 protected:
  const TemporaryDirectory directory;
  const File file = File::open(directory / "lock", O_RDWR | O_CREAT);
};

TEST_F(LockFile, SaysWhatWasWrittenToItAsAWhole) {
  write_lock(file, elsewhere(kNow, std::string(60, 'x')));
  write_lock(file, elsewhere(kNow));
  const LockRecord record = read_lock(file);
  EXPECT_EQ(record.run_id, "0123");
  EXPECT_EQ(record.holder.host, "node017");
  EXPECT_EQ(record.holder.machine, "another");
  EXPECT_EQ(record.holder.pid, 4711);
  EXPECT_EQ(record.holder.start, 99);
  EXPECT_EQ(record.since, 1'700'000'000);
  EXPECT_EQ(record.heartbeat, kNow);
  write_lock(file, elsewhere(kNow, "node\x1b[2J\n17"));
  EXPECT_EQ(read_lock(file).holder.host, "node?[2J?17") << "it moves no terminal's cursor";
  write_lock(file, elsewhere(std::numeric_limits<std::int64_t>::min()));
  EXPECT_FALSE(is_live(read_lock(file), Flock::kTaken, kNow)) << "before all time";
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

TEST(LockHolder, LivesWithTheFlockOrUntilItsHeartbeatIsStale) {
  EXPECT_TRUE(is_live({}, Flock::kHeld, kNow));
  EXPECT_TRUE(is_live(elsewhere(0), Flock::kHeld, kNow));
  EXPECT_FALSE(is_live({}, Flock::kTaken, kNow)) << "nobody knows it";
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

TEST(LockHolder, IsDescribedWithHostProcessAndTimes) {
  EXPECT_EQ(describe_holder(elsewhere(kNow - 4), kNow),
            "process 4711 on node017 since 2023-11-14 22:13:20 UTC, last heartbeat 4 s ago");
}

// ---- heartbeats ----

class Heartbeats : public testing::Test {
 protected:
  static Heartbeat beat(std::int64_t number) {
    return {number, {"node017", "another", 4711, 99}, 12, number == 2};
  }
  HeartbeatFile made() const {
    HeartbeatFile::create(path);
    return HeartbeatFile(path);
  }

  const TemporaryDirectory directory;
  const std::string path = directory / "heartbeats-0123";
};

TEST_F(Heartbeats, AreThoseOfTheRankThatLeftThem) {
  EXPECT_EQ(failure_from([&] { HeartbeatFile{path}; }).status, ANADROME_ERR_UNSUPPORTED)
      << "rank 0 has to make the file";
  const HeartbeatFile file = made();
  file.write(1, beat(1));
  file.write(0, beat(2));
  const std::optional<Heartbeat> zero = file.read(0), one = file.read(1);
  ASSERT_TRUE(zero && one);
  EXPECT_TRUE(zero->beat == 2 && zero->ends && one->beat == 1 && !one->ends);
  EXPECT_EQ(one->process.pid, 4711);
  EXPECT_EQ(one->process.host, "node017");
  EXPECT_EQ(one->activity, 12U);
  EXPECT_FALSE(file.read(2));
}

TEST_F(Heartbeats, AreReadAnewThoughTheKernelHasThemAsTheLockIs) {
  const test::CachingFileSystem files;
  const HeartbeatFile file = made();
  const File lock = File::open(directory / "lock", O_RDWR | O_CREAT);
  for (const std::int64_t number : {1, 2, 3}) {
    file.write(1, beat(number));
    file.write(0, beat(number));
    ASSERT_TRUE(file.read(1));
    EXPECT_EQ(file.read(1)->beat, number);
  }
  for (const std::int64_t number : {kNow, kNow + 10}) {
    write_lock(lock, elsewhere(number));
    EXPECT_EQ(read_lock(lock).heartbeat, number);
  }
}

TEST_F(Heartbeats, ThatAreNotWholeOrCannotBeReadDoNotCount) {
  const HeartbeatFile file = made();
  file.write(0, beat(1));
  {
    test::FaultyFileSystem files;
    files.arm(test::Operation::kRead, 1, test::Fault::kIoError, true);
    EXPECT_FALSE(file.read(0));
  }
  EXPECT_TRUE(file.read(0));
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(3);
  bytes.put('x');
  bytes.close();
  EXPECT_FALSE(file.read(0));
}

TEST_F(Heartbeats, GoOnWhenTheirFileIsGoneAndLeaveOneThatTookItsPlaceAsItIs) {
  const HeartbeatFile file = made();
  std::filesystem::rename(path, directory / "moved");
  std::ofstream(path) << "mine";
  file.write(0, beat(1));
  EXPECT_EQ(file.read(0)->beat, 1);
  EXPECT_EQ(std::filesystem::file_size(path), 4U);
  std::filesystem::remove(path);
  file.write(0, beat(2));
  EXPECT_EQ(file.read(0)->beat, 2);
}

}  // namespace
}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/disk/watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <thread>

#include "has_part.h"
#include "store/directory/run_directory.h"
#include "store/directory/run_files.h"
#include "temporary_directory.h"

namespace anadrome::engine {
namespace {

class WatchTest : public testing::Test {
 protected:
  Watch::Settings settings() const {
    Watch::Settings result;
    result.directory = store::Directory::open(path);
    result.run_id = "0123";
    return result;
  }
  store::LockRecord lock() const { return store::read_lock(store::File::open(lock_path, O_RDWR)); }
  // The heartbeats of two ranks, and what rank 0 of them watches with.
  store::HeartbeatFile heartbeats_of_two() const {
    const store::FilePlace file = store::HeartbeatFile::place(store::Directory::open(path), "0123");
    store::HeartbeatFile::create(file);
    return store::HeartbeatFile(file);
  }
  Watch::Settings first_of_two() const {
    Watch::Settings first = settings();
    first.seconds = 0.04;
    first.ranks = 2;
    return first;
  }
  static void wait_for_looks(const store::HeartbeatFile& heartbeats, std::int64_t more) {
    const auto beat = [&] {
      const auto own = heartbeats.read(0);
      return own ? own->beat : 0;
    };
    for (const std::int64_t until = beat() + more; beat() < until;) std::this_thread::yield();
  }
  void put(const store::LockRecord& record) const {
    store::write_lock(store::File::open(lock_path, O_RDWR), record);
  }

  const store::TemporaryDirectory parent;
  const std::string path = parent / "run";
  const std::string lock_path = path + "/" + store::kLockName;
  const store::RunDirectory run = store::RunDirectory::create(parent.path(), "run", "0123");
};

TEST_F(WatchTest, KeepsTheHeartbeatOfTheLockFresh) {
  store::LockRecord old = lock();
  old.heartbeat = 17;
  old.ended = true;
  put(old);
  Watch::Settings holder = settings();
  holder.holds_lock = true;
  holder.lock_seconds = 0;
  const Watch watch(holder);
  while (lock().heartbeat <= 17) std::this_thread::yield();
  EXPECT_TRUE(lock().ended);
  EXPECT_FALSE(watch.taken_over());
}

TEST_F(WatchTest, LearnsThatTheRunWasTakenOver) {
  Watch::Settings holder = settings();
  holder.holds_lock = true;
  holder.lock_seconds = 0;
  const Watch watch(holder);
  store::LockRecord successor = store::new_lock_record("4567");
  successor.holder.host = "node017";
  Failure failure;
  while (!(failure = watch.taken_over())) {
    put(successor);  // perhaps over a heartbeat that was just being written
    std::this_thread::yield();
  }
  EXPECT_EQ(failure.status, ANADROME_ERR_BUSY);
  EXPECT_TRUE(test::has_part(failure.message, "on node017"));
  put(store::new_lock_record("0123"));  // its directory may go
}

TEST_F(WatchTest, LeavesHeartbeatsThatOthersCanRead) {
  const store::HeartbeatFile heartbeats = heartbeats_of_two();
  Watch::Settings second = first_of_two();
  second.seconds = 1000;
  second.rank = 1;
  const Watch watch(second);
  EXPECT_FALSE(heartbeats.read(0));
  const auto found = heartbeats.read(1);
  ASSERT_TRUE(found);
  EXPECT_EQ(store::state_of(found->process), store::ProcessState::kRuns);
}

TEST_F(WatchTest, NamesASilentRankOnceAndSaysOnlyThenThatItAnswersAgain) {
  const store::HeartbeatFile heartbeats = heartbeats_of_two();
  store::Heartbeat second = {.beat = 1, .process = store::this_process()};
  second.process.start += 1;  // another process had this number, and is dead
  heartbeats.write(1, second);
  testing::internal::CaptureStderr();
  const Watch watch(first_of_two());
  wait_for_looks(heartbeats, 20);
  const std::string silent = testing::internal::GetCapturedStderr();
  testing::internal::CaptureStderr();
  ++second.beat;
  heartbeats.write(1, second);
  wait_for_looks(heartbeats, 3);
  const std::string again = testing::internal::GetCapturedStderr();
  const auto named = silent.find("has not answered");
  EXPECT_NE(named, std::string::npos) << silent;
  EXPECT_EQ(silent.find("has not answered", named + 1), std::string::npos) << silent;
  EXPECT_FALSE(test::has_part(silent, "answers again"));
  EXPECT_TRUE(test::has_part(again, "answers again"));
}

TEST_F(WatchTest, NamesOnceARankThatClosesWhileAnotherIsInItsSolver) {
  const store::HeartbeatFile heartbeats = heartbeats_of_two();
  const auto in_close = static_cast<std::uint64_t>(Doing::kClose) << kStepBits;
  heartbeats.write(1, {.beat = 1, .process = store::this_process(), .activity = in_close});
  for (const Doing first_does : {Doing::kAdvance, Doing::kNext}) {
    testing::internal::CaptureStderr();
    {
      Watch watch(first_of_two());
      watch.note(first_does, 7);
      wait_for_looks(heartbeats, 20);
    }
    const std::string said = testing::internal::GetCapturedStderr();
    const std::string words =
        "in anadrome_close) left the loop, and rank 0 is in its solver, forward from step 7";
    const std::size_t named = said.find(words);
    EXPECT_EQ(named != std::string::npos, first_does == Doing::kAdvance) << said;
    EXPECT_TRUE(named == std::string::npos || said.find(words, named + 1) == std::string::npos);
  }
}

TEST_F(WatchTest, WithoutTheFileOfRankZeroIsUnsupported) {
  Watch::Settings lonely = settings();
  lonely.seconds = 1;
  EXPECT_EQ(failure_from([&] { Watch{lonely}; }).status, ANADROME_ERR_UNSUPPORTED);
}

}  // namespace
}  // namespace anadrome::engine

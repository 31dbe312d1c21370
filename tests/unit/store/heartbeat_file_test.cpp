// SPDX-License-Identifier: BSD-2-Clause
#include "store/directory/heartbeat_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "caching_file_system.h"
#include "faulty_file_system.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

class Heartbeats : public testing::Test {
 protected:
  static Heartbeat beat(std::int64_t number) {
    return {number, {"node017", "another", 4711, 99}, 12, number == 2};
  }

  const TemporaryDirectory directory;
  const std::string path = directory / "heartbeats-0123";
};

TEST_F(Heartbeats, AreThoseOfTheRankThatLeftThem) {
  HeartbeatFile::create(path);
  const HeartbeatFile file(path);
  file.write(1, beat(1));
  file.write(0, beat(2));
  ASSERT_TRUE(file.read(0) && file.read(1));
  EXPECT_EQ(file.read(0)->beat, 2);
  EXPECT_TRUE(file.read(0)->ends);
  EXPECT_EQ(file.read(1)->beat, 1);
  EXPECT_EQ(file.read(1)->process.pid, 4711);
  EXPECT_EQ(file.read(1)->process.host, "node017");
  EXPECT_EQ(file.read(1)->activity, 12U);
  EXPECT_FALSE(file.read(1)->ends);
  EXPECT_FALSE(file.read(2));
}

TEST_F(Heartbeats, AreReadAnewThoughTheKernelHasThem) {
  const test::CachingFileSystem files;
  HeartbeatFile::create(path);
  const HeartbeatFile file(path);
  for (const std::int64_t number : {1, 2, 3}) {
    file.write(1, beat(number));
    file.write(0, beat(number));
    ASSERT_TRUE(file.read(1));
    EXPECT_EQ(file.read(1)->beat, number);
  }
}

TEST_F(Heartbeats, ThatAreNotWholeDoNotCount) {
  HeartbeatFile::create(path);
  const HeartbeatFile file(path);
  file.write(0, beat(1));
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(3);
  bytes.put('x');
  bytes.close();
  EXPECT_FALSE(file.read(0));
}

TEST_F(Heartbeats, GoOnWhenTheDirectoryIsBeingRemoved) {
  HeartbeatFile::create(path);
  const HeartbeatFile mine(path);
  std::filesystem::remove(path);
  mine.write(0, beat(1));
  EXPECT_EQ(mine.read(0)->beat, 1);
}

TEST_F(Heartbeats, LeaveAFileThatTookTheirPlaceAsItIs) {
  HeartbeatFile::create(path);
  const HeartbeatFile file(path);
  std::filesystem::rename(path, directory / "moved");
  std::ofstream(path) << "mine";
  file.write(0, beat(1));
  EXPECT_EQ(file.read(0)->beat, 1);
  EXPECT_EQ(std::filesystem::file_size(path), 4U);
}

TEST_F(Heartbeats, ThatCannotBeReadAreNone) {
  HeartbeatFile::create(path);
  const HeartbeatFile file(path);
  file.write(0, beat(1));
  test::FaultyFileSystem files;
  files.arm(test::Operation::kRead, 1, test::Fault::kIoError, true);
  EXPECT_FALSE(file.read(0));
}

TEST_F(Heartbeats, NeedTheFileThatRankZeroMade) {
  EXPECT_EQ(failure_from([&] { HeartbeatFile{path}; }).status, ANADROME_ERR_UNSUPPORTED);
}

}  // namespace
}  // namespace anadrome::store

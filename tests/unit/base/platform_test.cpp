// SPDX-License-Identifier: BSD-2-Clause
// What linux.cpp and posix.cpp both do: that which this build has.
#include "base/platform/platform.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/processors.h"

namespace anadrome::platform {
namespace {

class Scratch {
 public:
  explicit Scratch(off_t length = 0) : descriptor_(make_scratch(path_, length)) {}
  ~Scratch() {
    ::close(descriptor_);
    remove_scratch(path_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  int get() const { return descriptor_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_;
};

TEST(Platform, MakesAFileThatItsPathOpensAndLeavesNoneBehind) {
  std::string left;
  {
    const Scratch file;
    left = file.path();
  }
  EXPECT_NE(::access(left.c_str(), F_OK), 0);
  const Scratch file;
  ASSERT_GE(file.get(), 0);
  ASSERT_EQ(::pwrite(file.get(), "text", 4, 0), 4);
  std::array<char, 40> room;
  for (const char* path : {file.path().c_str(), path_of_open(file.get(), room)}) {
    const int again = ::open(path, O_RDONLY);
    ASSERT_GE(again, 0) << path;
    std::array<char, 5> text{};
    EXPECT_EQ(::read(again, text.data(), 4), 4);
    EXPECT_STREQ(text.data(), "text");
    ::close(again);
  }
}

TEST(Platform, PassesHoles) {
  const Scratch file;
  constexpr off_t kLength = 10 << 20, kFirst = 3 << 20, kSecond = 7 << 20;
  ASSERT_EQ(::ftruncate(file.get(), kLength), 0);
  for (const off_t at : {kFirst, kSecond}) ASSERT_EQ(::pwrite(file.get(), "data", 4, at), 4);
  std::vector<off_t> found;
  off_t passed = 0, at = 0;
  for (Extent next; (next = next_data(file.get(), at, kLength)).begin >= 0; at = next.end) {
    ASSERT_GT(next.end, next.begin);
    for (const off_t data : {kFirst, kSecond}) {
      if (next.begin <= data && data + 4 <= next.end) found.push_back(data);
    }
    passed += next.begin - at;
  }
  EXPECT_EQ(found, (std::vector<off_t>{kFirst, kSecond}));
  EXPECT_GT(passed, 5 << 20);
}

TEST(Platform, KnowsWhereADirectoryIsByNow) {
  std::string path =
      std::filesystem::canonical(std::filesystem::temp_directory_path()) / "anadrome-XXXXXX";
  ASSERT_NE(::mkdtemp(path.data()), nullptr);
  const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_GE(directory, 0);
  EXPECT_EQ(path_now(directory), path);
  const std::string moved = path + "-moved";
  ASSERT_EQ(::rename(path.c_str(), moved.c_str()), 0);
  EXPECT_EQ(path_now(directory), moved);
  std::filesystem::remove(moved);
  ::close(directory);
  const int mounted = ::open("/dev/shm", O_RDONLY | O_DIRECTORY);
  ASSERT_GE(mounted, 0);
  EXPECT_EQ(path_now(mounted), std::filesystem::canonical("/dev/shm"));
  ::close(mounted);
}

TEST(Platform, GivesPagesBack) {
  constexpr std::size_t kBytes = 1 << 20;
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | kNoReserve, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  give_back(memory, kBytes);
  std::vector<unsigned char> resident(kBytes / 4096);
  ASSERT_EQ(::mincore(memory, kBytes, resident.data()), 0);
  for (const unsigned char page : resident) EXPECT_EQ(page & 1, 0);
  EXPECT_EQ(static_cast<char*>(memory)[kBytes / 2], 0);
  ::munmap(memory, kBytes);
}

TEST(Platform, ReservesRoom) {
  const Scratch file;
  ASSERT_EQ(allocate(file.get(), 0, 1 << 20), 0);
  struct stat status {};
  ASSERT_EQ(::fstat(file.get(), &status), 0);
  EXPECT_EQ(status.st_size, 1 << 20);
  EXPECT_GE(status.st_blocks * 512, 1 << 20);
}

TEST(Platform, KnowsThisProcess) {
  EXPECT_FALSE(machine().empty());
  EXPECT_NE(process(::getpid()).letter, '\0');
  EXPECT_EQ(process(std::int64_t{1} << 30).letter, '\0') << "no kernel counts so far";
}

// The processors of base/processors.h.
TEST(Processors, AreThoseThatAThreadIsBoundTo) {
  const Processors all = anadrome::allowed_processors();
  if (kPortable) {
    EXPECT_EQ(count(all), 0) << "nobody can tell";
    return;
  }
  ASSERT_GE(count(all), 1);
  int bound = 0, started_there = 0;
  std::thread([&] {
    std::size_t first = 0;
    while ((all[first / 64] >> (first % 64)) % 2 == 0) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    bound = count(anadrome::allowed_processors());
    std::thread([&] { started_there = count(anadrome::allowed_processors()); }).join();
  }).join();
  EXPECT_EQ(bound, 1);
  EXPECT_EQ(started_there, 1) << "as the I/O thread of a rank that is bound";
  EXPECT_EQ(anadrome::allowed_processors(), all);
}

}  // namespace
}  // namespace anadrome::platform

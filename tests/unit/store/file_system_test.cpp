// SPDX-License-Identifier: BSD-2-Clause
#include "store/files/file_system.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <vector>

#include "base/error.h"
#include "faulty_file_system.h"
#include "file_systems.h"
#include "has_part.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

// `ulimit -f`, beyond which the kernel ends the process.
class LimitOnFiles {
 public:
  explicit LimitOnFiles(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const struct rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LimitOnFiles() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  LimitOnFiles(const LimitOnFiles&) = delete;
  LimitOnFiles& operator=(const LimitOnFiles&) = delete;

 private:
  struct rlimit before_ {};
};

class FileTest : public testing::Test {
 protected:
  File open() const { return File::open(path, O_RDWR | O_CREAT); }
  void expect_refused(const std::function<void()>& body, const std::string& with_message,
                      anadrome_status status = ANADROME_ERR_IO) const {
    const Failure failure = failure_from(body);
    EXPECT_EQ(failure.status, status) << failure.message;
    EXPECT_TRUE(test::has_part(failure.message, with_message));
  }

  const TemporaryDirectory directory;
  const std::string path = directory / "file";
};

TEST_F(FileTest, IsAsLongAsItMayBe) {
  const LimitOnFiles limit(10);
  const File file = open();
  const std::vector<char> bytes(8, 'x');
  EXPECT_NO_THROW(file.write_all(bytes.data(), 8, 2));
  expect_refused([&] { file.write_all(bytes.data(), 8, 3); }, path, ANADROME_ERR_NO_SPACE);
  alignas(4096) static std::array<char, 4096> block;
  const File direct = File::open(path, O_RDWR | O_DIRECT);
  FileTransfer transfer{true, direct.get(), block.data(), block.size()};
  file_system().start(transfer);
  file_system().finish(transfer);
  EXPECT_EQ(transfer.result, -EFBIG) << "a lower limit while a run writes";
  EXPECT_EQ(file_system().allocate(file.get(), 4, 7), -EFBIG);
  EXPECT_EQ(file_system().truncate(file.get(), 11), -EFBIG);
  EXPECT_EQ(file_system().truncate(file.get(), 4), 0);
}

TEST(FileSystem, KnowsFilesInMemory) {
  EXPECT_EQ(file_system().in_memory("/dev/shm"), !platform::kPortable);
  EXPECT_FALSE(file_system().in_memory("/proc"));
  EXPECT_FALSE(file_system().in_memory("/dev/shm/absent"));
}

TEST_F(FileTest, ReportsErrorsWithPathAndOffset) {
  ssize_t answer = 0;
  test::RecordingFileSystem files([&](const test::RecordingFileSystem::Call&, ssize_t& result) {
    result = answer;
    return true;
  });
  const File file = open();
  char bytes[10] = {};
  const auto write = [&] { file.write_all(bytes, sizeof bytes, 8192); };
  const auto read = [&] { file.read_all(bytes, sizeof bytes, 8192); };
  answer = -EIO;
  for (const std::string& part : {path, std::string("8192"), std::string("Input/output error")})
    expect_refused(write, part);
  expect_refused(read, path);
  for (const int full : {ENOSPC, EDQUOT, EFBIG}) {
    answer = -full;
    expect_refused(write, path, ANADROME_ERR_NO_SPACE);
  }
  answer = 0;  // a write that never gets on, and the end of the file
  expect_refused(write, path);
  expect_refused(read, "truncated", ANADROME_ERR_CORRUPT);
}

TEST_F(FileTest, IsPrivateAndNotInherited) {
  ::umask(0);
  const File file = open();
  struct stat status {};
  ASSERT_EQ(::fstat(file.get(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(FileTest, SaysWhichFileCannotBeOpenedOrWritten) {
  expect_refused([&] { File::open(path, O_RDONLY); },
                 "cannot open " + path + ": No such file or directory");
  const std::string nowhere = directory / "no/such", link = directory / "link";
  expect_refused([&] { require_writable(nowhere); },
                 "cannot create " + nowhere + ": No such file or directory");
  expect_refused([&] { require_writable(directory.path()); },
                 "cannot open " + directory.path() + ": Is a directory");
  require_writable(path);
  EXPECT_NE(::access(path.c_str(), F_OK), 0) << "none is left";
  open().write_all("abc", 3, 0);
  require_writable(path);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 3) << "one that is there stays as it is";
  expect_refused([&] { File::open(path, O_RDWR | O_CREAT | O_EXCL); },
                 "cannot create " + path + ": File exists");
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  expect_refused([&] { File::open(link, O_RDWR); }, link);
}

TEST_F(FileTest, WaitsForNoPipeAndUsesNoDevice) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const std::string& name : {path, std::string("/dev/null")}) {
    expect_refused([&] { require_writable(name); }, name);
    for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR | O_CREAT, O_WRONLY | O_TRUNC})
      expect_refused([&] { File::open(name, flags); }, name);
  }
}

TEST_F(FileTest, ClosesItsDescriptorOnce) {
  File file = open();
  const int descriptor = file.get();
  {
    const File other = std::move(file);
    EXPECT_EQ(other.get(), descriptor);
    EXPECT_FALSE(file);  // NOLINT(bugprone-use-after-move): a moved-from file owns nothing
  }
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);
  file.close();
}

TEST_F(FileTest, IsLockedByOneDescriptorAtATime) {
  const File first = open(), second = open();
  EXPECT_EQ(file_system().lock(first.get()), 0);
  EXPECT_EQ(file_system().lock(second.get()), -EWOULDBLOCK);
}

TEST_F(FileTest, SyncsADirectory) {
  open();
  EXPECT_NO_THROW(sync_directory(directory.path()));
  expect_refused([&] { sync_directory(directory / "none"); }, directory / "none");
  expect_refused([&] { sync_directory(path); }, path);
  test::FaultyFileSystem files;
  files.arm(test::Operation::kSync, 1, test::Fault::kIoError);
  expect_refused([&] { sync_directory(directory.path()); },
                 "cannot sync " + directory.path() + ": Input/output error");
}

}  // namespace
}  // namespace anadrome::store

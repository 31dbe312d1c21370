// SPDX-License-Identifier: BSD-2-Clause
#include "store/files/file_system.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/error.h"
#include "faulty_file_system.h"
#include "has_part.h"
#include "recording_file_system.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

anadrome_status status_of(const std::function<void()>& body, std::string* message = nullptr) {
  const Failure failure = failure_from(body);
  if (failure && message != nullptr) *message = failure.message;
  return failure.status;
}

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

  const TemporaryDirectory directory;
  const std::string path = directory / "file";
};

TEST_F(FileTest, IsAsLongAsItMayBe) {
  const LimitOnFiles limit(10);
  const File file = open();
  const std::vector<char> bytes(8, 'x');
  EXPECT_EQ(status_of([&] { file.write_all(bytes.data(), 8, 2); }), ANADROME_OK);
  EXPECT_EQ(status_of([&] { file.write_all(bytes.data(), 8, 3); }), ANADROME_ERR_NO_SPACE);
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
  RecordingFileSystem files([&](const RecordingFileSystem::Call&, ssize_t& result) {
    result = answer;
    return true;
  });
  const File file = open();
  char bytes[10] = {};
  std::string message;
  const auto write = [&] { file.write_all(bytes, sizeof bytes, 8192); };
  const auto read = [&] { file.read_all(bytes, sizeof bytes, 8192); };

  answer = -EIO;
  EXPECT_EQ(status_of(write, &message), ANADROME_ERR_IO);
  EXPECT_TRUE(test::has_part(message, path));
  EXPECT_TRUE(test::has_part(message, "8192"));
  EXPECT_TRUE(test::has_part(message, "Input/output error"));
  EXPECT_EQ(status_of(read), ANADROME_ERR_IO);
  answer = -ENOSPC;
  EXPECT_EQ(status_of(write), ANADROME_ERR_NO_SPACE);
  answer = -EDQUOT;
  EXPECT_EQ(status_of(write), ANADROME_ERR_NO_SPACE);
  answer = -EFBIG;
  EXPECT_EQ(status_of(write), ANADROME_ERR_NO_SPACE);
  answer = 0;  // a write that never gets on, and the end of the file
  EXPECT_EQ(status_of(write), ANADROME_ERR_IO);
  EXPECT_EQ(status_of(read, &message), ANADROME_ERR_CORRUPT);
  EXPECT_TRUE(test::has_part(message, "truncated"));
}

TEST_F(FileTest, IsPrivateAndNotInherited) {
  ::umask(0);
  const File file = open();
  struct stat status {};
  ASSERT_EQ(::fstat(file.get(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(FileTest, IsNotOpenedThroughASymbolicLink) {
  open();
  const std::string link = directory / "link";
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  std::string message;
  EXPECT_EQ(status_of([&] { File::open(link, O_RDWR); }, &message), ANADROME_ERR_IO);
  EXPECT_TRUE(test::has_part(message, link));
}

TEST_F(FileTest, SaysWhichFileCannotBeOpened) {
  std::string message;
  EXPECT_EQ(status_of([&] { File::open(path, O_RDONLY); }, &message), ANADROME_ERR_IO);
  EXPECT_EQ(message, "cannot open " + path + ": No such file or directory");
  open();
  EXPECT_EQ(status_of([&] { File::open(path, O_RDWR | O_CREAT | O_EXCL); }, &message),
            ANADROME_ERR_IO);
  EXPECT_EQ(message, "cannot create " + path + ": File exists");
}

TEST_F(FileTest, IsFoundWritableWithoutATrace) {
  require_writable(path);
  EXPECT_NE(::access(path.c_str(), F_OK), 0) << "none is left";
  open().write_all("abc", 3, 0);
  require_writable(path);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 3) << "one that is there stays as it is";
}

TEST_F(FileTest, IsFoundNotWritable) {
  std::string message;
  const std::string nowhere = directory / "no/such";
  EXPECT_EQ(status_of([&] { require_writable(nowhere); }, &message), ANADROME_ERR_IO);
  EXPECT_EQ(message, "cannot create " + nowhere + ": No such file or directory");
  EXPECT_EQ(status_of([&] { require_writable(directory.path()); }, &message), ANADROME_ERR_IO);
  EXPECT_EQ(message, "cannot open " + directory.path() + ": Is a directory");
}

TEST_F(FileTest, WaitsForNoPipeAndUsesNoDevice) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const std::string& name : {path, std::string("/dev/null")}) {
    EXPECT_EQ(status_of([&] { require_writable(name); }), ANADROME_ERR_IO);
    for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR | O_CREAT, O_WRONLY | O_TRUNC})
      EXPECT_EQ(status_of([&] { File::open(name, flags); }), ANADROME_ERR_IO) << flags;
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
  const File first = open();
  EXPECT_EQ(file_system().lock(first.get()), 0);
  const File second = open();
  EXPECT_EQ(file_system().lock(second.get()), -EWOULDBLOCK);
}

TEST_F(FileTest, SyncsADirectory) {
  EXPECT_NO_THROW(sync_directory(directory.path()));
  std::string message;
  EXPECT_EQ(status_of([&] { sync_directory(directory / "none"); }, &message), ANADROME_ERR_IO);
  open();
  EXPECT_EQ(status_of([&] { sync_directory(path); }, &message), ANADROME_ERR_IO);
  EXPECT_TRUE(test::has_part(message, path));
  test::FaultyFileSystem files;
  files.arm(test::Operation::kSync, 1, test::Fault::kIoError);
  EXPECT_EQ(status_of([&] { sync_directory(directory.path()); }, &message), ANADROME_ERR_IO);
  EXPECT_EQ(message, "cannot sync " + directory.path() + ": Input/output error");
}

}  // namespace
}  // namespace anadrome::store

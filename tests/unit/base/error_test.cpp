// SPDX-License-Identifier: BSD-2-Clause
#include "base/error.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "base/thread.h"

namespace anadrome {
namespace {

template <class Thrown>
Failure failure_of(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return current_failure();
  }
}

TEST(Failure, IsTrueOnceThereIsOne) {
  EXPECT_FALSE(Failure{});
  EXPECT_FALSE((Failure{ANADROME_OK, "a message alone is no failure"}));
  EXPECT_TRUE((Failure{ANADROME_ERR_PEER, {}}));
}

TEST(CurrentFailure, KeepsTheStatusOfAnErrorAndTakesAnythingElseForADefect) {
  const Failure failure = failure_of(Error(ANADROME_ERR_CORRUPT, "checksum of step 7"));
  EXPECT_EQ(failure.status, ANADROME_ERR_CORRUPT);
  EXPECT_EQ(failure.message, "checksum of step 7");
  const Failure memory = failure_of(std::bad_alloc());
  EXPECT_EQ(memory.status, ANADROME_ERR_MEMORY);
  EXPECT_FALSE(memory.message.empty());
  const Failure known = failure_of(std::logic_error("index"));
  EXPECT_EQ(known.status, ANADROME_ERR_INTERNAL);
  EXPECT_EQ(known.message, "index");
  EXPECT_EQ(failure_of(7).status, ANADROME_ERR_INTERNAL);
}

TEST(ErrnoText, IsTheTextOfTheSystemAndNamesTheLimitThatWasReached) {
  EXPECT_EQ(errno_text(ENOSPC), std::strerror(ENOSPC));
  EXPECT_FALSE(errno_text(123456).empty());
  struct rlimit files {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_EQ(errno_text(EMFILE), std::string(std::strerror(EMFILE)) + " (ulimit -n is " +
                                    std::to_string(files.rlim_cur) + ": raise it, or close files)");
  for (const auto& [number, limit] :
       {std::pair{ENOMEM, "ulimit -v"}, {EFBIG, "ulimit -f"}, {ENFILE, "fs.file-max"}}) {
    EXPECT_NE(errno_text(number).find(limit), std::string::npos) << limit;
  }
}

TEST(StatusOfErrno, TellsAFullDiskFromABrokenOne) {
  for (const int full : {ENOSPC, EDQUOT, EFBIG}) {
    EXPECT_EQ(status_of_errno(full), ANADROME_ERR_NO_SPACE) << errno_text(full);
  }
  for (const int broken : {EIO, EACCES, ENOENT, EROFS, EINTR}) {
    EXPECT_EQ(status_of_errno(broken), ANADROME_ERR_IO) << errno_text(broken);
  }
}

TEST(StatusName, IsTheNameInTheHeaderDiffersForEachAndIsNeverNull) {
  EXPECT_STREQ(status_name(ANADROME_OK), "ANADROME_OK");
  EXPECT_STREQ(status_name(ANADROME_ERR_ORDER), "ANADROME_ERR_ORDER");
  std::set<std::string> names;
  for (int status = ANADROME_OK; status <= ANADROME_ERR_INTERNAL; ++status) {
    const std::string name = status_name(static_cast<anadrome_status>(status));
    EXPECT_EQ(name.rfind("ANADROME_", 0), 0u) << status;
    names.insert(name);
  }
  EXPECT_EQ(names.size(), 13u);
  // 15 is the last number that the enumeration can hold; 13 to 15 have no name.
  EXPECT_STREQ(status_name(static_cast<anadrome_status>(15)), "unknown anadrome_status");
}

// The limit does not hold for root, so the child becomes somebody else.
TEST(StartThreadDeathTest, SaysWhichThreadAndWhichLimit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto start = [] {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0) std::_Exit(3);
    const struct rlimit one_process = {1, 1};
    setrlimit(RLIMIT_NPROC, &one_process);
    try {
      start_thread("anadrome-test", "writes letters", [](const std::stop_token&) {}).join();
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      std::_Exit(error.status() == ANADROME_ERR_MEMORY ? 7 : 4);
    }
    std::_Exit(5);
  };
  EXPECT_EXIT(start(), testing::ExitedWithCode(7),
              "letters: .*ulimit -u is 1 for threads, ulimit -v.*: raise it");
}

}  // namespace
}  // namespace anadrome

#include "store/run_files.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "forwarding_file_system.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

TEST(RunFiles, AreKnownByTheirNames) {
  for (const char* name : {"lock", "states.h5", "journal-0", "journal-12", "adjoint-3",
                           "heartbeats-0af9", "segment-00000.h5", "segment-copy-node-000001.h5"}) {
    EXPECT_TRUE(is_run_file(name)) << name;
  }
  for (const char* name :
       {"", "locks", "states.h5.bak", "journal-", "journal-1a", "adjoint-", "heartbeats-",
        "heartbeats-xyz", "segment-00000.h5~", "my-segment-1.h5", "results.dat"}) {
    EXPECT_FALSE(is_run_file(name)) << name;
  }
}

TEST(RunFiles, TellHeartbeatsApart) {
  EXPECT_TRUE(is_heartbeat_file("heartbeats-12ab"));
  EXPECT_FALSE(is_heartbeat_file("heartbeats-12AB"));
  EXPECT_FALSE(is_heartbeat_file("lock"));
}

TEST(RunFiles, AreListedJournalsFirst) {
  const TemporaryDirectory directory;
  for (const char* name : {"a", "journal-1", "lock", "journal-0", "z"}) {
    std::ofstream(directory / name) << "x";
  }
  const std::vector<std::string> names = files_in(directory.path());
  ASSERT_EQ(names.size(), 5u);
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(names[i].starts_with("journal-"), i < 2) << names[i];
  }
}

TEST(RunFiles, OfNoDirectoryAreAnError) {
  const TemporaryDirectory directory;
  EXPECT_THROW(files_in(directory / "none"), Error);
}

// Opening fails in the given way; from the third time on the name is gone, too.
class RemovedElsewhere final : public test::ForwardingFileSystem {
 public:
  explicit RemovedElsewhere(int error) : error_(error) {}
  int open(const std::string& path, int, mode_t) override {
    if (++opened_ == 3) std::filesystem::remove(path);
    return -error_;
  }
  int opened() const { return opened_; }

 private:
  int error_;
  int opened_ = 0;
};

TEST(RunFiles, AreLookedForAgainWhereACacheStillShowsThem) {
  const TemporaryDirectory directory;
  const std::string path = directory / "journal-0";
  EXPECT_FALSE(is_there(path));
  std::ofstream(path) << "x";
  EXPECT_TRUE(is_there(path));
  const RemovedElsewhere files(ENOENT);
  EXPECT_FALSE(is_there(path));
  EXPECT_EQ(files.opened(), 3);
}

TEST(RunFiles, AreThereThoughTheyCannotBeOpened) {
  const TemporaryDirectory directory;
  const std::string path = directory / "journal-0";
  std::ofstream(path) << "x";
  const RemovedElsewhere files(EIO);
  EXPECT_TRUE(is_there(path));
  EXPECT_EQ(files.opened(), 1);
}

}  // namespace
}  // namespace anadrome::store

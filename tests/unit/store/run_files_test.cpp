// SPDX-License-Identifier: BSD-2-Clause
#include "store/directory/run_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "files_of_a_run.h"
#include "forwarding_file_system.h"
#include "store/directory/heartbeat_file.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

const std::vector<std::string> kNames = {"lock",
                                         "states.h5",
                                         "journal-000012",
                                         "adjoint-000003",
                                         "heartbeats-0af9",
                                         "segment-00000.h5",
                                         "segment-copy-node-000001.h5",
                                         "segment-123456-rank-000000.h5",
                                         "objects-rank-000000.h5"};

class FilesOfARun : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& run_id = "1") const {
    put_file_of_run(directory.path(), name, run_id);
  }
  void put_bytes(const std::string& name, const std::string& bytes) const {
    std::ofstream(directory / name) << bytes;
  }
  bool made(const std::string& name) const {
    return RunFiles(Directory::open(directory.path())).made(name);
  }

  const TemporaryDirectory directory;
};

TEST_F(FilesOfARun, HaveNamesWhichAloneMakeThemNoRuns) {
  for (const char* name :
       {"", "locks", "states.h5.bak", "journal-", "journal-2025", "journal-00001a", "adjoint-3",
        "adjoint-", "heartbeats-", "heartbeats-xyz", "segment-00000.h5~", "my-segment-1.h5",
        "segment-my-thesis.h5", "segment-00000-rank-1.h5", "segment-00000.h5.new", "results.dat",
        "thesis.h5.new", "objects-rank-me.h5"}) {
    EXPECT_EQ(kind_of(name), FileKind::kNone) << name;
  }
  put("lock");
  put("journal-000000");
  put("segment-00007.h5");
  for (const std::string& name : kNames) {
    EXPECT_NE(kind_of(name), FileKind::kNone) << name;
    if (kind_of(name) == FileKind::kLock) continue;
    put_bytes(name, "mine, and no run's");
    EXPECT_FALSE(made(name)) << name;
  }
  put_bytes("lock", "mine");
  EXPECT_FALSE(made("lock"));
}

TEST_F(FilesOfARun, SaySoThemselves) {
  put("lock");
  put("journal-000003");
  for (const std::string& name : kNames) {
    if (kind_of(name) == FileKind::kHeartbeats) continue;
    put(name);
    EXPECT_TRUE(made(name)) << name;
  }
  const std::string heartbeats = directory / "heartbeats-0af9";
  HeartbeatFile::create(heartbeats);
  EXPECT_TRUE(made("heartbeats-0af9")) << "nothing was written to it";
  Heartbeat heartbeat;
  heartbeat.beat = 1;
  HeartbeatFile(heartbeats).write(3, heartbeat);
  EXPECT_TRUE(made("heartbeats-0af9"));
  std::filesystem::resize_file(heartbeats, 3 * 4096 + 100);
  EXPECT_TRUE(made("heartbeats-0af9")) << "a torn write";
  put_bytes("heartbeats-0af9", "bytes of a damaged disk");
  EXPECT_FALSE(made("heartbeats-0af9"));
  put("lock", "0af9");
  EXPECT_TRUE(made("heartbeats-0af9"));
}

TEST_F(FilesOfARun, MayBeBlankBesideOneThatSaysSo) {
  for (const char* name : {"segment-00001.h5", "adjoint-000000"}) {
    put_bytes(name, "");
    EXPECT_FALSE(made(name));
    std::filesystem::resize_file(directory / name, std::size_t{1} << 20);
  }
  put("lock");
  EXPECT_TRUE(made("segment-00001.h5"));
  EXPECT_TRUE(made("adjoint-000000"));
  std::filesystem::create_hard_link(directory / "segment-00001.h5", directory / "a-users");
  EXPECT_FALSE(made("segment-00001.h5")) << "a run gives a file one name";
  for (const auto& [name, zeros] : {std::pair("segment-00000.h5", std::size_t{512}),
                                    std::pair("adjoint-000000", std::size_t{1} << 18)}) {
    put_bytes(name, std::string(zeros, '\0') + "numbers");
    EXPECT_TRUE(made(name));
    put_bytes(name, std::string(zeros - 1, '\0') + "numbers");
    EXPECT_FALSE(made(name)) << "which are anybody's";
  }
}

// Of a damaged disk, or of a user's who lets nobody open them.
class NoBytes final : public test::ForwardingFileSystem {
 public:
  int open(const std::string& path, int flags, mode_t mode) override {
    return opens || (flags & O_DIRECTORY) != 0 ? real_.open(path, flags, mode) : -EACCES;
  }
  ssize_t read(int, void*, std::size_t, off_t) override { return -EIO; }

  bool opens = true;
};

TEST_F(FilesOfARun, MayBeOnesThatCannotBeReadBesideOneThatSaysSo) {
  put("segment-00000.h5");
  const auto made_by_a_live_run = [&] {
    return RunFiles(Directory::open(directory.path()), new_lock_record("1"))
        .made("segment-00000.h5");
  };
  NoBytes disk;
  EXPECT_FALSE(made("segment-00000.h5")) << "there is no other";
  EXPECT_TRUE(made_by_a_live_run());
  std::filesystem::create_hard_link(directory / "segment-00000.h5", directory / "a-users");
  EXPECT_FALSE(made_by_a_live_run());
  std::filesystem::remove(directory / "a-users");
  disk.opens = false;  // as where there is no descriptor left
  EXPECT_TRUE(made_by_a_live_run());
  std::filesystem::permissions(directory / "segment-00000.h5", std::filesystem::perms::none);
  EXPECT_FALSE(made_by_a_live_run()) << "a run lets its owner read them";
}

TEST_F(FilesOfARun, MayHaveADamagedSectorBesideOneThatSaysSo) {
  const std::string garbage(512, '\xdb'), zeros(512, '\0');
  put("segment-00000.h5");
  put_bytes("lock", garbage);
  EXPECT_TRUE(made("lock"));
  put_bytes("lock", std::string(512, 'x'));
  EXPECT_FALSE(made("lock"));
  for (const auto& [head, is_made] :
       {std::pair(garbage + kFormatAttribute + " slot_step", true),
        std::pair(garbage + kFormatAttribute, false),
        std::pair("\x89HDF" + garbage + "slot_step", true), std::pair("\x89HDF" + garbage, false),
        std::pair("\x89HDF" + std::string(5000, '\0'), true), std::pair(zeros + garbage, true),
        std::pair(zeros + "\x89HDF", false)}) {
    put_bytes("segment-00001.h5", head);
    EXPECT_EQ(made("segment-00001.h5"), is_made);
  }
}

TEST_F(FilesOfARun, AreRegularFilesAndListedJournalsFirst) {
  put("lock");
  put("segment-00000.h5");
  std::filesystem::create_symlink(directory / "segment-00000.h5", directory / "segment-copy.h5");
  std::filesystem::create_directory(directory / "states.h5");
  ASSERT_EQ(::mkfifo((directory / "journal-000000").c_str(), 0600), 0);
  for (const char* name : {"segment-copy.h5", "states.h5", "journal-000000"})
    EXPECT_FALSE(made(name)) << name;
  for (const char* name : {"a", "journal-000001", "z"}) put_bytes(name, "x");
  const std::vector<std::string> names = files_in(Directory::open(directory.path()));
  ASSERT_EQ(names.size(), 8u);
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(names[i].starts_with("journal-"), i < 2) << names[i];
}

}  // namespace
}  // namespace anadrome::store

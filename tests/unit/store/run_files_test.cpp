// SPDX-License-Identifier: BSD-2-Clause
#include "store/run_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

TEST(RunFiles, AreKnownByTheirNames) {
  for (const char* name :
       {"lock", "states.h5", "journal-0", "journal-12", "adjoint-3", "heartbeats-0af9",
        "segment-00000.h5", "segment-copy.h5", "segment-00001-rank-000003.h5",
        "segment-copy-node-000001.h5", "objects-rank-000000.h5"}) {
    EXPECT_TRUE(is_run_file(name)) << name;
  }
  for (const char* name :
       {"", "locks", "states.h5.bak", "journal-", "journal-1a", "adjoint-", "heartbeats-",
        "heartbeats-xyz", "segment-left.h5", "segment-.h5", "segment-copy-node-.h5",
        "segment-0-1.h5", "objects-rank-.h5", "segment-00000.h5.new", "segment-00000.h5~",
        "my-segment-1.h5", "results.dat"}) {
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

}  // namespace
}  // namespace anadrome::store

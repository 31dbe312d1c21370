// SPDX-License-Identifier: BSD-2-Clause
// The tier on a real file whose system fails.
#include <gtest/gtest.h>

#include "faulty_file_system.h"
#include "tier_bench.h"

namespace anadrome::store {
namespace {

using test::Fault;
using test::Operation;

// The file system before all files.
struct FaultyTier {
  explicit FaultyTier(const TierShape& shape = {})
      : tiers(shape, [](const BlockLayout& layout) { return make_direct_transport(layout, {}); }) {
    for (std::int64_t anchor = 0; anchor < 3; ++anchor) tiers.keep_and_write(anchor, 10 * anchor);
    tiers.tier->flush();
  }
  void drop_all() {
    for (std::int64_t anchor = 2; anchor >= 0; --anchor) tiers.tier->drop(anchor);
  }
  test::FaultyFileSystem files;
  TierBench tiers;
};

TEST(DiskTierOnFiles, BringsEveryStateBack) {
  FaultyTier s;
  s.drop_all();
  for (std::int64_t anchor = 2; anchor >= 0; --anchor) {
    EXPECT_TRUE(s.tiers.brings_back(anchor, 10 * anchor));
  }
  EXPECT_EQ(s.tiers.transport->totals().bytes_written, 4 * kPage) << "one of them a copy";
}

TEST(DiskTierOnFiles, ReadsAgainWhatFailedOnce) {
  for (const Fault fault : {Fault::kIoError, Fault::kFlippedBit, Fault::kTorn}) {
    FaultyTier s;
    s.drop_all();
    s.files.arm(Operation::kRead, 1, fault);
    EXPECT_TRUE(s.tiers.brings_back(1, 10)) << test::to_string(fault);
    EXPECT_TRUE(s.files.hit());
  }
}

TEST(DiskTierOnFiles, LosesWhatCannotBeRead) {
  for (const Fault fault : {Fault::kIoError, Fault::kFlippedBit}) {
    FaultyTier s;
    s.drop_all();
    s.files.arm(Operation::kRead, 1, fault, true);
    const Failure lost = s.tiers.tier->load(1);
    EXPECT_EQ(lost.status, fault == Fault::kIoError ? ANADROME_ERR_IO : ANADROME_ERR_CORRUPT);
    EXPECT_FALSE(s.tiers.tier->lose(1));
    s.files.disarm();
    EXPECT_TRUE(s.tiers.brings_back(0, 0));
  }
}

TEST(DiskTierOnFiles, ReadsTheCopyOfStepZeroWhereTheFirstOneIsSpoilt) {
  FaultyTier s;
  s.drop_all();
  s.files.arm(Operation::kRead, 1, Fault::kFlippedBit, true);
  EXPECT_EQ(s.tiers.tier->load(0).status, ANADROME_ERR_CORRUPT);
  s.files.disarm();
  ASSERT_TRUE(s.tiers.tier->lose(0));
  EXPECT_TRUE(s.tiers.brings_back(0, 0));
}

TEST(DiskTierOnFiles, FindsWhatTheDiskDidNotWrite) {
  for (const Fault fault : {Fault::kLost, Fault::kCorrupted}) {
    FaultyTier s;
    s.files.arm(Operation::kWrite, 1, fault);
    s.tiers.keep_and_write(3, 30);
    s.tiers.tier->flush();
    EXPECT_TRUE(s.files.hit());
    EXPECT_EQ(s.tiers.tier->notes().writes_failed(), 0) << "the disk said that it did";
    EXPECT_TRUE(s.tiers.brings_back(3, 30)) << "from memory";
    s.tiers.tier->drop(3);
    EXPECT_EQ(s.tiers.tier->load(3).status, ANADROME_ERR_CORRUPT) << test::to_string(fault);
  }
}

TEST(DiskTierOnFiles, RefusesAFullDiskAtOnceAndAFailingOneTheThirdTime) {
  for (const Fault fault : {Fault::kNoSpace, Fault::kIoError}) {
    FaultyTier s;
    s.files.arm(Operation::kWrite, 1, fault, true);
    int writes = 0;
    while (!s.tiers.tier->notes().disk_refuses() && writes < 5) {
      const std::int64_t anchor = 3 + writes++;
      s.tiers.keep_and_write(anchor, 10 * anchor);
      s.tiers.tier->flush();
    }
    EXPECT_EQ(writes, fault == Fault::kNoSpace ? 1 : 3);
    EXPECT_EQ(s.tiers.tier->notes().writes_failed(), writes);
    EXPECT_TRUE(s.tiers.tier->notes().failed_write());
    s.files.disarm();
  }
}

TEST(DiskTierOnFiles, WritesBlocksOfSeveralStates) {
  FaultyTier s({.states = 3});
  s.drop_all();
  for (std::int64_t anchor = 2; anchor >= 0; --anchor) {
    EXPECT_TRUE(s.tiers.brings_back(anchor, 10 * anchor));
  }
  EXPECT_EQ(s.tiers.transport->totals().bytes_read, 3 * kPage) << "one read for all of them";
}

}  // namespace
}  // namespace anadrome::store

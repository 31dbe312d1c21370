// SPDX-License-Identifier: BSD-2-Clause
// Commits that cannot be made on one rank: standard error says so once, and why.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <string>

#include "faulty_file_system.h"
#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
#include "short_sweep.h"

namespace {

using namespace anadrome::test;

class FailedCommits : public ShortSweep {
 protected:
  FailedCommits() {
    testing::internal::CaptureStderr();
    files_.only_in("/adjoint-");
  }
  void fill_the_disk() {
    if (fails_here()) files_.arm(Operation::kWrite, 1, Fault::kNoSpace, true);
  }
  static bool fails_here() { return rank() == ranks() - 1; }

  static void expect_one_report() {
    const std::string said = testing::internal::GetCapturedStderr();
    if (rank() != 0) {
      EXPECT_EQ(said, "");
      return;
    }
    const std::string report = "a commit could not be made: ";
    const std::size_t at = said.find(report);
    ASSERT_NE(at, std::string::npos) << said;
    EXPECT_EQ(said.find(report, at + 1), std::string::npos) << said;
    EXPECT_TRUE(has_part(said, "No space left"));
    EXPECT_TRUE(has_part(said, "/adjoint-"));
    EXPECT_TRUE(has_part(said, "a killed run starts over"));
    if (ranks() > 1) {
      const std::string who = "rank " + std::to_string(ranks() - 1);
      EXPECT_TRUE(has_part(said, who));
    }
  }

  FaultyFileSystem files_;
  RunHandle run_ = prepared({{"resume", "on"}, {"checkpoint_interval", "0"}});
};

TEST_F(FailedCommits, AreNoneOnAHealthyDisk) {
  expect_exact_sweep(run_);
  EXPECT_EQ(run_.close(), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(FailedCommits, AreReportedWhenTheNextOneIsDue) {
  fill_the_disk();
  SweepDriver driver(run_, model_, reference_);
  driver.before_action = [&](const anadrome_action& action) {
    // The first commit was begun with the first anchor; there are later ones for the next.
    if (fails_here() && action.first >= 3) files_.wait_until_hit();
  };
  driver.exact_sweep(kSteps);
  files_.disarm();
  EXPECT_EQ(run_.close(), ANADROME_OK) << anadrome_last_error();
  expect_one_report();
}

TEST_F(FailedCommits, AreReportedAtAStop) {
  fill_the_disk();
  EXPECT_EQ(anadrome_begin(run_, kSteps), ANADROME_OK) << anadrome_last_error();
  anadrome_request_stop(run_);
  EXPECT_EQ(follow(run_, ANADROME_OK, [](const anadrome_action&) {}), ANADROME_STOPPED);
  EXPECT_STREQ(anadrome_last_error(), "stopped as asked; the last commit could not be made");
  files_.disarm();
  EXPECT_EQ(run_.close(), ANADROME_OK) << anadrome_last_error();
  expect_one_report();
  RunHandle next = prepared();
  expect_exact_sweep(next);
}

}  // namespace

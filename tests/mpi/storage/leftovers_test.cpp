// SPDX-License-Identifier: BSD-2-Clause
// The files that remain on disk when something could not be made or could not be removed.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "faulty_file_system.h"
#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
#include "short_sweep.h"

namespace {

using namespace anadrome::test;

class Leftovers : public ShortSweep {};

TEST_F(Leftovers, ThereAreNoneOfARunThatCouldNotBegin) {
  {
    FaultyFileSystem files;
    RunHandle run = prepared();
    if (rank() == 0) files.arm(Operation::kLock, 1, Fault::kIoError);
    EXPECT_EQ(anadrome_begin(run, 20), ANADROME_ERR_IO);
    expect_no_files();
    expect_exact_sweep(run);
  }
  for (const char* layout : {"shared", "rank"}) {
    for (const bool swept_before : {false, true}) {
      FaultyFileSystem files;
      RunHandle run = prepared({{"layout", layout}});
      if (swept_before) expect_exact_sweep(run);
      run.set("keep", "on");
      if (rank() == 0) files.arm(Operation::kAllocate, 1, Fault::kNoSpace, true);
      EXPECT_EQ(anadrome_begin(run, 20), ANADROME_ERR_NO_SPACE) << anadrome_last_error();
      EXPECT_EQ(run.statistics().steps, ANADROME_STEPS_UNKNOWN);
      EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
      expect_no_files();
    }
  }
}

TEST_F(Leftovers, OfAnEarlierNameAreReportedAtTheNextBegin) {
  FaultyFileSystem files;
  RunHandle run = prepared({{"name", "first"}});
  expect_exact_sweep(run);
  run.set("name", "second");
  if (rank() == 0) files.arm(Operation::kUnlink, 1, Fault::kIoError, true);
  EXPECT_EQ(anadrome_begin(run, 20), ANADROME_ERR_IO);
  EXPECT_TRUE(has_part(anadrome_last_error(), "first"));
  files.disarm();
  expect_exact_sweep(run);
  EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();

  RunHandle later = prepared({{"name", "first"}});
  expect_exact_sweep(later);
  EXPECT_EQ(later.close(), ANADROME_OK) << anadrome_last_error();
  expect_no_files();
}

TEST_F(Leftovers, ThatCannotBeRemovedAfterDoneAreAWarningThatNamesThem) {
  FaultyFileSystem files;
  RunHandle run = prepared({{"layout", "rank"}});
  expect_exact_sweep(run);
  if (rank() == 0) files.arm(Operation::kUnlink, 1, Fault::kIoError, true);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  const std::string said = testing::internal::GetCapturedStderr();
  files.disarm();
  const bool named =
      said.find("cannot remove " + directory() + "/anadrome/segment-") != std::string::npos;
  EXPECT_EQ(named, rank() == 0) << said;
  RunHandle next = prepared();
  expect_exact_sweep(next);
  EXPECT_EQ(next.close(), ANADROME_OK) << anadrome_last_error();
  expect_no_files();
}

TEST_F(Leftovers, OfAnUnfinishedRunThatCannotBeLeftAreAnError) {
  FaultyFileSystem files;
  RunHandle run = prepared({{"schedule", "async"}, {"resume", "on"}, {"checkpoint_interval", "0"}});
  ASSERT_EQ(anadrome_begin(run, 20), ANADROME_OK) << anadrome_last_error();
  anadrome_request_stop(run);
  EXPECT_EQ(follow(run, ANADROME_OK, [](const anadrome_action&) {}), ANADROME_STOPPED);
  if (rank() == 0) files.arm(Operation::kUnlink, 1, Fault::kIoError, true);  // of the lock
  EXPECT_EQ(run.close(), ANADROME_ERR_IO);
  files.disarm();
  RunHandle next = prepared();
  expect_exact_sweep(next);
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// A begin that failed, and the next one of the same run object: it finds all that was committed by
// a run that was left, and a disk that works again.
#include <gtest/gtest.h>

#include <string>

#include "faulty_file_system.h"
#include "mpi_main.h"
#include "short_sweep.h"

namespace {

using namespace anadrome::test;

class BeginAgain : public ShortSweep {
 protected:
  RunHandle prepared_to_resume() {
    return prepared({{"resume", "on"}, {"checkpoint_interval", "0"}});
  }
  // By another process, forward at step 10 or later.
  void leave_a_run() {
    RunHandle run = prepared_to_resume();
    SweepDriver driver(run, model_, reference_);
    driver.before_action = [&](const anadrome_action& action) {
      if (action.kind == ANADROME_ADVANCE && action.first == 10) anadrome_request_stop(run);
    };
    EXPECT_EQ(driver.sweep(kSteps).status, ANADROME_STOPPED);
  }
  void expect_to_go_on(RunHandle& run) {
    EXPECT_GE(anadrome::test::expect_to_go_on(run, model_, reference_, kSteps), 10);
  }
  // That was left once more.
  void finish() {
    RunHandle run = prepared();
    expect_exact_sweep(run);
  }
};

TEST_F(BeginAgain, GoesOnWhereABeginBeforeFoundNoRoom) {
  leave_a_run();
  for (const bool elsewhere : {false, true}) {  // for its journal; in another directory
    SCOPED_TRACE(elsewhere);
    FaultyFileSystem files;
    RunHandle run = prepared_to_resume();
    if (elsewhere) run.set("name", "without_room");
    files.only_in(elsewhere ? "" : "/journal-");
    if (rank() == (elsewhere ? 0 : ranks() - 1))
      files.arm(elsewhere ? Operation::kAllocate : Operation::kWrite, 1, Fault::kNoSpace, true);
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_NO_SPACE) << anadrome_last_error();
    files.disarm();
    run.set("name", "anadrome");
    expect_to_go_on(run);
    EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  }
  finish();
}

TEST_F(BeginAgain, GoesOnOnceMoreWhereNoActionFollowed) {
  leave_a_run();
  RunHandle run = prepared_to_resume();
  for (int time = 0; time < 3; ++time) expect_to_go_on(run);
  EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  finish();
}

// Compressed blocks are counted on disk: what the sweep before wrote goes first.
TEST_F(BeginAgain, RemovesTheFilesThatCouldNotBeRemovedBefore) {
  RunHandle run = prepared();
  run.set("compress", "lz4");  // for which some memory is set aside
  run.set("memory", "64KiB");
  run.set("disk", "100MiB");
  expect_exact_sweep(run);
  FaultyFileSystem files;
  files.only_in("/segment-");
  if (rank() == 0) files.arm(Operation::kUnlink, 1, Fault::kIoError);
  EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_IO) << anadrome_last_error();
  EXPECT_TRUE(rank() != 0 || files.hit());
  expect_exact_sweep(run);
  EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  expect_no_files();
}

// What is kept are the states of the newest sweep, and that has none.
TEST_F(BeginAgain, SaysThatNoStatesAreKeptWhereItFailed) {
  testing::internal::CaptureStderr();
  RunHandle run = prepared({{"keep", "on"}});
  expect_exact_sweep(run);
  EXPECT_EQ(anadrome_begin(run, -7), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("keep=on, and no states are kept") != std::string::npos, rank() == 0) << said;
  expect_no_files();
}

}  // namespace

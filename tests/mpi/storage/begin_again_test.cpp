// SPDX-License-Identifier: BSD-2-Clause
// A begin that fails on its way into a run that was left: the next one of the same run object finds
// all that was committed.
#include <gtest/gtest.h>

#include <string>

#include "faulty_file_system.h"
#include "mpi_main.h"
#include "short_sweep.h"

namespace {

using namespace anadrome::test;

class BeginAgain : public ShortSweep {
 protected:
  void prepare_to_resume(RunHandle& run) {
    prepare(run);
    run.set("resume", "on");
    run.set("checkpoint_interval", "0");
    run.set("warnings", "off");
  }
  // By another process, forward at step 10 or later.
  void leave_a_run() {
    RunHandle run(MPI_COMM_WORLD);
    prepare_to_resume(run);
    SweepDriver driver(run, model_, reference_);
    driver.before_action = [&](const anadrome_action& action) {
      if (action.kind == ANADROME_ADVANCE && action.first == 10) anadrome_request_stop(run);
    };
    EXPECT_EQ(driver.sweep(kSteps).status, ANADROME_STOPPED);
  }
  void expect_to_go_on(RunHandle& run) {
    model_.scramble_state();
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
    anadrome_phase phase = ANADROME_PHASE_IDLE;
    std::int64_t step = 0;
    EXPECT_EQ(anadrome_resumed(run, &phase, &step), ANADROME_OK);
    EXPECT_EQ(phase, ANADROME_PHASE_FORWARD);
    EXPECT_GE(step, 10);
    EXPECT_EQ(model_.state(), reference_.state(step));
  }
  // That was left once more.
  void finish() {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    expect_exact_sweep(run);
  }
};

TEST_F(BeginAgain, GoesOnAfterTheJournalCouldNotBeWritten) {
  leave_a_run();
  FaultyFileSystem files;
  files.only_in("/journal-");
  RunHandle run(MPI_COMM_WORLD);
  prepare_to_resume(run);
  if (rank() == ranks() - 1) files.arm(Operation::kWrite, 1, Fault::kNoSpace, true);
  EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_NO_SPACE) << anadrome_last_error();
  files.disarm();
  expect_to_go_on(run);
  EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  finish();
}

TEST_F(BeginAgain, GoesOnInAnotherDirectoryThanThatWithoutRoom) {
  leave_a_run();
  FaultyFileSystem files;
  RunHandle run(MPI_COMM_WORLD);
  prepare_to_resume(run);
  run.set("name", "without_room");
  if (rank() == 0) files.arm(Operation::kAllocate, 1, Fault::kNoSpace, true);
  EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_NO_SPACE) << anadrome_last_error();
  files.disarm();
  run.set("name", "anadrome");
  expect_to_go_on(run);
  EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  finish();
}

TEST_F(BeginAgain, GoesOnOnceMoreWhereNoActionFollowed) {
  leave_a_run();
  RunHandle run(MPI_COMM_WORLD);
  prepare_to_resume(run);
  for (int time = 0; time < 3; ++time) expect_to_go_on(run);
  EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  finish();
}

}  // namespace

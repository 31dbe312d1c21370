// SPDX-License-Identifier: BSD-2-Clause
// Passes over states of every kind, and whatever holds them: the bits are those of a fresh sweep.
#include <gtest/gtest.h>

#include <string>

#include "passes.h"

namespace {

using namespace anadrome::test;

// One without states on disk, and the one that has them there.
constexpr const char* kSchedules[] = {"revolve", "async"};

class PassKinds : public Passes {
 protected:
  // Four slots; as few blocks as will do, so that states are read from disk.
  void prepare(RunHandle& run, const std::string& schedule, std::int64_t blocks,
               bool tape = false) {
    Passes::prepare(run, schedule, blocks, tape);
    if (schedule != "store_all") run.set("checkpoints", "4");
    if (schedule == "async") run.set("interval", "3");
    run.set("passes", "8");
  }

  // Memory for a codec's buffers may hold all of these small states.
  static void expect_reads(const RunHandle& run, const std::string& schedule) {
    if (schedule == "async" && !compresses()) {
      EXPECT_GT(run.statistics().bytes_read, 0);
    }
  }
};

TEST_F(PassKinds, HaveTheBitsOfASweepWithExchangedFields) {
  for (const char* schedule : kSchedules) {
    for (const bool tape : {false, true}) {
      for (const unsigned exchanged : {kFloat32s | kBytes, +kAllFields}) {
        SCOPED_TRACE(std::string(schedule) + (tape ? ", tape" : "") + ", exchanged " +
                     std::to_string(exchanged));
        model(tape).exchanged = exchanged;
        RunHandle run(MPI_COMM_WORLD);
        prepare(run, schedule, 3, tape);
        if (exchanged == kAllFields) run.set("passes", "0");
        SweepDriver driver(run, model(tape), reference(tape));
        sweep_and_pass(run, driver, 40);
        expect_reads(run, schedule);
        model(tape).exchanged = kNoField;
      }
    }
  }
}

TEST_F(PassKinds, HaveThemWhereTheEndWasNotKnown) {
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    for (const bool tape : {false, true}) {
      SCOPED_TRACE(std::string(schedule) + (tape ? ", tape" : ""));
      RunHandle run(MPI_COMM_WORLD);
      prepare(run, schedule, schedule == std::string("store_all") ? 64 : 4, tape);
      SweepDriver driver(run, model(tape), reference(tape));
      for (const std::int64_t steps : {0, 1, 16, 23}) sweep_and_pass(run, driver, steps, true);
    }
  }
}

TEST_F(PassKinds, HaveThemInFilesOfEveryKind) {
  for (const char* schedule : kSchedules) {
    for (const char* layout : {"node", "rank"}) {
      SCOPED_TRACE(std::string(schedule) + ", " + layout);
      RunHandle run(MPI_COMM_WORLD);
      prepare(run, schedule, 8);
      run.set("layout", layout);
      run.set("compress", "lz4");
      SweepDriver driver(run, model(false), reference(false));
      sweep_and_pass(run, driver, 23);
      expect_reads(run, schedule);
    }
  }
}

}  // namespace

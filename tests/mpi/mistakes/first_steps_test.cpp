// SPDX-License-Identifier: BSD-2-Clause
// The first steps, which are run twice, whatever else happens in them.
#include <string>

#include "mpi_main.h"
#include "short_sweep.h"

namespace {

using namespace anadrome::test;

class FirstSteps : public ShortSweep {
 protected:
  enum class Event { kCommits, kFails, kStops };
  // At the action `at` on the last rank, and then once more without.
  void sweep_twice(Event event, std::int64_t at, std::int64_t steps, const char* preflight) {
    SCOPED_TRACE(std::to_string(static_cast<int>(event)) + " at action " + std::to_string(at) +
                 ", " + std::to_string(steps) + " steps, preflight=" + preflight);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    run.set("preflight", preflight);
    run.set("resume", event == Event::kCommits ? "on" : "off");
    run.set("checkpoint_interval", "0");
    SweepDriver driver(run, model_, reference_);
    std::int64_t number = 0;
    driver.before_action = [&](const anadrome_action&) {
      if (number++ != at || rank() != ranks() - 1) return;
      if (event == Event::kFails) anadrome_fail(run, "it must");
      if (event == Event::kStops) anadrome_request_stop(run);
    };
    for (const bool unknown : {true, false}) {
      const Outcome outcome = driver.sweep(steps, unknown);
      number = at + 1;
      const bool ended = (event == Event::kFails && outcome.status == ANADROME_ERR_PEER) ||
                         (event == Event::kStops && outcome.status == ANADROME_STOPPED);
      EXPECT_TRUE(outcome.exact && (outcome.done || (ended && unknown))) << outcome.message;
    }
    EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  }
};

TEST_F(FirstSteps, MayEndTheSweepFailStopAndBeCommitted) {
  for (const char* preflight : {"2", "5"}) {
    for (const std::int64_t steps : {0, 1, 2, 3, 6}) {
      sweep_twice(Event::kCommits, 0, steps, preflight);
      for (const std::int64_t at : {0, 1, 2, 4, 7})
        for (const Event event : {Event::kFails, Event::kStops})
          sweep_twice(event, at, steps, preflight);
    }
  }
  expect_no_files();
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Sweeps of schedules that nest what they keep, or play a list, with models of several shapes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "faulty_file_system.h"
#include "mpi_main.h"
#include "schedule/mixed.h"
#include "sweep_driver.h"

namespace anadrome::test {

inline constexpr std::int64_t kMostSteps = 60;
inline constexpr std::int64_t kLengths[] = {0, 1, 2, 3, 4, 5, 6, 17, 60};

class NestedSchedules : public testing::Test {
 protected:
  NestedSchedules()
      : model_(MPI_COMM_WORLD, counts()),
        tape_model_(MPI_COMM_WORLD, counts(), true),
        small_model_(MPI_COMM_WORLD, Counts{1, 0, 0, 3, 0}, true),
        reference_(model_, kMostSteps),
        tape_reference_(tape_model_, kMostSteps),
        small_reference_(small_model_, kMostSteps) {}

  static Counts counts() {
    const auto r = static_cast<std::size_t>(rank());
    return Counts{3 + 2 * r, 2 + r, 1 + 3 * r, 13 + 5 * r, 7 + r};
  }

  static void prepare(RunHandle& run, CoupledModel& model, const std::string& schedule,
                      std::int64_t memory) {
    EXPECT_EQ(model.add_fields(run), ANADROME_OK) << anadrome_last_error();
    run.set("schedule", schedule);
    run.set("memory", std::to_string(memory) + "B");
  }

  // With a tape of `tape_slots` slots, in room for `slots` states.
  static void sweep_mixed(CoupledModel& model, const Reference& reference, std::int64_t slots,
                          std::int64_t tape_slots) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model, "mixed", slots * least_memory(model, "revolve"));
    for (const std::int64_t steps : kLengths) {
      SCOPED_TRACE(std::to_string(steps) + " steps, " + std::to_string(slots) + " slots");
      SweepDriver driver(run, model, reference);
      const Outcome outcome = driver.sweep(steps);
      expect_exact(run, outcome, outcome.advances);
      const std::int64_t granted = run.statistics().checkpoint_slots;
      EXPECT_GE(granted, std::min(slots, steps * tape_slots + 1));
      const auto extra = anadrome::schedule::mixed_advances(steps, granted, tape_slots, false);
      EXPECT_EQ(outcome.advances, static_cast<std::int64_t>(extra) + steps);
    }
  }

  struct Survived {
    std::int64_t errors = 0, finished = 0;
  };
  // Whatever the disk does on one rank: the exact states, or the same error on all.
  template <class Set>
  Survived sweep_on_failing_disks(const std::string& schedule, std::int64_t memory, Set&& set) {
    Survived survived;
    for (const auto& [operation, fault] : {std::pair{Operation::kWrite, Fault::kIoError},
                                           std::pair{Operation::kRead, Fault::kIoError},
                                           std::pair{Operation::kRead, Fault::kFlippedBit}}) {
      for (const std::int64_t at : {1, 2, 5}) {
        RunHandle run(MPI_COMM_WORLD);
        prepare(run, model_, schedule, memory);
        run.set("direct", "off");
        set(run);
        SweepDriver driver(run, model_, reference_);
        FaultyFileSystem files;
        if (rank() == 0) files.arm(operation, at, fault, true);
        const Outcome outcome = driver.sweep(40);
        EXPECT_TRUE(outcome.exact);
        EXPECT_TRUE(outcome.done || outcome.status != ANADROME_OK);
        EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, outcome.status)) << outcome.message;
        survived.errors += outcome.done ? 0 : 1;
        survived.finished += outcome.done ? 1 : 0;
        files.disarm();
        EXPECT_TRUE(driver.sweep(40).exact) << "the run goes on with a new sweep";
      }
    }
    return survived;
  }

  CoupledModel model_, tape_model_;
  CoupledModel small_model_;  ///< with a tape of several states' size
  const Reference reference_, tape_reference_, small_reference_;
};

// Steps that get dearer and dearer; ranks do not agree on how dear.
inline std::vector<double> rising_costs(std::int64_t steps) {
  std::vector<double> seconds;
  for (std::int64_t k = 0; k < steps; ++k) {
    seconds.push_back(static_cast<double>(k + 1) * (rank() == ranks() - 1 ? 1.0 : 0.5));
  }
  return seconds;
}

}  // namespace anadrome::test

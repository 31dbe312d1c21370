// SPDX-License-Identifier: BSD-2-Clause
// Several runs in one program: side by side, on parts of the ranks, one after the other.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "has_part.h"
#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

// A run with disk, in memory for few states.
struct Job {
  Job(MPI_Comm comm, const std::string& name, std::int64_t blocks = 3)
      : model(comm, Counts{3, 1, 2, 5, 9}), reference(model, 30), run(comm) {
    const std::int64_t memory = blocks * least_memory(model, "async");
    EXPECT_EQ(model.add_fields(run), ANADROME_OK);
    run.set("schedule", "async");
    run.set("interval", "1");
    run.set("name", name);
    run.set("memory", std::to_string(memory) + "B");
  }

  void expect_exact_sweep() {
    SweepDriver driver(run, model, reference);
    driver.exact_sweep(30);
  }

  CoupledModel model;
  const Reference reference;
  RunHandle run;
};

TEST(ManyRuns, WorkSideBySide) {
  Job first(MPI_COMM_WORLD, "first"), second(MPI_COMM_WORLD, "second", 1);
  SweepDriver driver(first.run, first.model, first.reference);
  // A whole sweep of the second within each tenth action of the first.
  int actions = 0;
  driver.before_action = [&](const anadrome_action&) {
    if (actions++ % 10 == 0) second.expect_exact_sweep();
  };
  driver.exact_sweep(30);
}

TEST(ManyRuns, OfOneNameAreRefusedAndTheFirstGoesOn) {
  for (const char* layout : {"shared", "node", "rank"}) {
    Job first(MPI_COMM_WORLD, "same"), second(MPI_COMM_WORLD, "same");
    first.run.set("layout", layout);
    second.run.set("layout", layout);
    SweepDriver driver(first.run, first.model, first.reference);
    int actions = 0;
    driver.before_action = [&](const anadrome_action&) {
      if (actions++ % 10 != 5) return;
      EXPECT_EQ(anadrome_begin(second.run, 5), ANADROME_ERR_BUSY) << anadrome_last_error();
      const std::string message = anadrome_last_error();
      EXPECT_TRUE(has_part(message, directory() + "/same"));
      EXPECT_TRUE(has_part(message, "in use by another run of this process"));
    };
    driver.exact_sweep(30);
    EXPECT_EQ(first.run.close(), ANADROME_OK) << anadrome_last_error();
    second.expect_exact_sweep();
  }
}

TEST(ManyRuns, WorkOnPartsOfTheRanks) {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank() % 2, -rank(), &part);
  auto job = std::make_unique<Job>(part, "part" + std::to_string(rank() % 2));
  Job alone(MPI_COMM_SELF, "alone" + std::to_string(rank()));
  for (int i = 0; i < 3; ++i) {
    job->expect_exact_sweep();
    alone.expect_exact_sweep();
  }
  job.reset();
  MPI_Comm_free(&part);
}

TEST(ManyRuns, MayOutliveTheCommunicatorTheyWereOpenedOn) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  RunHandle run(copy);
  MPI_Comm_free(&copy);
  CoupledModel model(MPI_COMM_WORLD, Counts{3, 0, 0, 0, 0});
  const Reference reference(model, 9);
  EXPECT_EQ(model.add_fields(run), ANADROME_OK);
  SweepDriver(run, model, reference).exact_sweep(9);
  EXPECT_EQ(run.close(), ANADROME_OK);
  EXPECT_EQ(static_cast<anadrome_run*>(run), nullptr);
}

}  // namespace

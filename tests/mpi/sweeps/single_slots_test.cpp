// SPDX-License-Identifier: BSD-2-Clause
// compress=float32 keeps states in memory in single precision where not every state fits as it is:
// twice as many, and fewer steps are run again.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lossy_model.h"

namespace anadrome::test {
namespace {

class SingleSlots : public LossySweep {
 protected:
  void prepare(RunHandle& run, const char* schedule, const char* memory) {
    model_.add_to(run);
    run.set("schedule", schedule);
    run.set("compress", "float32");
    run.set("memory", memory);
    run.set("warnings", "off");
  }
  void expect_single(const std::vector<LossyModel>& found) {
    const auto most = differences(found);
    if (count() > 0) {
      EXPECT_GT(most[0], 0);
    }
    EXPECT_LE(std::max(most[0], most[1]), 2.2e-6);
    EXPECT_EQ(most[2], 0);
  }
  void expect_exact(const std::vector<LossyModel>& found) {
    EXPECT_EQ(differences(found), (std::array<double, 3>{}));
  }
};

TEST_F(SingleSlots, RevolveRunsFewerStepsInTheSameMemory) {
  std::int64_t advances[2], slots[2];
  for (const bool single : {false, true}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, "revolve", "7MiB");
    if (!single) run.set("compress", "off");
    const std::vector<LossyModel> found = sweep(run);
    single ? expect_single(found) : expect_exact(found);
    const anadrome_stats stats = run.statistics();
    EXPECT_EQ(stats.forward_steps_taken, stats.forward_steps_planned);
    EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
    advances[single] = stats.forward_steps_taken;
    slots[single] = stats.checkpoint_slots;
  }
  EXPECT_GT(slots[true], slots[false]);
  EXPECT_LT(advances[true], advances[false]);
}

TEST_F(SingleSlots, StoreAllFitsWhereStatesInFullDoNot) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "store_all", "16MiB");
  expect_single(sweep(run));
  EXPECT_EQ(run.statistics().forward_steps_taken, kSteps);
}

TEST_F(SingleSlots, StatesStayAsTheyAreWhereAllFit) {
  for (const char* schedule : {"store_all", "revolve"}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, schedule, "40MiB");
    expect_exact(sweep(run));
  }
}

TEST_F(SingleSlots, AsyncHasThemBesideItsAnchors) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "async", "14MiB");
  run.set("bandwidth_limit", "20MB/s");
  for (int i = 0; i < 2; ++i) expect_single(sweep(run));
  const anadrome_stats stats = run.statistics();
  EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
}

TEST_F(SingleSlots, PassesMeetStatesAsTheyAreOrAreRefused) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "revolve", "7MiB");
  expect_single(sweep(run));
  EXPECT_EQ(anadrome_pass(run, ANADROME_PASS_FORWARD), ANADROME_ERR_UNSUPPORTED);
  EXPECT_NE(std::string(anadrome_last_error()).find("set passes"), std::string::npos);
  run.set("passes", "1");
  expect_exact(sweep(run));
  EXPECT_EQ(anadrome_pass(run, ANADROME_PASS_FORWARD), ANADROME_OK) << anadrome_last_error();
}

TEST_F(SingleSlots, ANumberThatIsTooLargeIsAnErrorOnAllRanks) {
  RunHandle run(MPI_COMM_WORLD);
  std::vector<double> x(60'000, 1.0);
  anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x.data(),
                     std::int64_t(x.size()));
  run.set("schedule", "revolve");
  run.set("compress", "float32");
  run.set("memory", "2MiB");
  ASSERT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
  anadrome_action action{};
  anadrome_status status = ANADROME_OK;
  while ((status = anadrome_next(run, &action)) == ANADROME_OK && action.kind != ANADROME_DONE) {
    if (action.kind == ANADROME_ADVANCE && rank() == ranks() - 1) x[5] = 1e39;
  }
  EXPECT_EQ(status, ANADROME_ERR_ARGUMENT);
  EXPECT_NE(std::string(anadrome_last_error()).find("'x' has a number that is too large"),
            std::string::npos)
      << anadrome_last_error();
}

}  // namespace
}  // namespace anadrome::test

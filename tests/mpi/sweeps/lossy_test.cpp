// SPDX-License-Identifier: BSD-2-Clause
// States that lossy compression changes on their way to disk: by no more than was asked for, in
// fields of real numbers alone, the same in every run, and never unasked.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lossy_model.h"

namespace anadrome::test {
namespace {

class Lossy : public LossySweep, public testing::WithParamInterface<const char*> {
 protected:
  // The states that a pass saw, in its order.
  std::vector<LossyModel> pass(anadrome_run* run, anadrome_direction direction) {
    std::vector<LossyModel> found;
    EXPECT_EQ(anadrome_pass(run, direction), ANADROME_OK) << anadrome_last_error();
    anadrome_action action = {};
    while (action.kind != ANADROME_DONE) {
      if (anadrome_next(run, &action) != ANADROME_OK) {
        ADD_FAILURE() << anadrome_last_error();
        return found;
      }
      for (std::int64_t k = action.first; k < action.last && action.kind == ANADROME_ADVANCE; ++k)
        model_.step(k);
      if (action.kind == ANADROME_VISIT || action.kind == ANADROME_ADJOINT) found.push_back(model_);
    }
    return found;
  }

  void prepare(RunHandle& run, const char* schedule, const char* limit) {
    model_.add_to(run);
    run.set("schedule", schedule);
    if (std::string(schedule) == "async") run.set("interval", "3");
    run.set("compress", GetParam());
    if (std::string(GetParam()) != "float32") run.set("tolerance", "1e-4");
    run.set("memory", "7MiB");
    run.set("warnings", "off");
    run.set("bandwidth_limit", limit);
  }

  void expect_close(const std::vector<LossyModel>& found, bool changed) {
    const auto most = differences(found);
    if (count() == 0) return;
    const bool float32 = std::string(GetParam()) == "float32";
    constexpr double kGrowth = 2.2;  // of an error, in as many steps
    EXPECT_TRUE(most[0] > 0 || !changed);
    EXPECT_LE(most[0], kGrowth * (float32 ? 1e-6 : 7e-4));
    EXPECT_LE(most[1], kGrowth * (float32 ? 1e-6 : 1e-3));
    EXPECT_LE(most[2], float32 ? 0 : kGrowth * 3e-4);
  }
};

TEST_P(Lossy, StatesAreWithinTheTolerance) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "async", "none");
  expect_close(sweep(run), true);
  const anadrome_stats stats = run.statistics();
  EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
  EXPECT_GT(stats.states_written, 0);
}

class LossyBits : public Lossy {};

// What of the states is in memory when they are wanted depends on the disk's speed.
TEST_P(LossyBits, BitsDoNotDependOnWhatIsStillInMemory) {
  std::vector<std::vector<LossyModel>> found;
  for (const char* limit : {"none", "20MB/s", "none"}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, "async", limit);
    found.push_back(sweep(run));
    found.push_back(sweep(run));
  }
  for (const auto& others : found) EXPECT_TRUE(others == found.front());
}

// Whatever is in memory when a pass begins: what the sweep left, or another pass.
TEST_P(LossyBits, PassesInAnyOrderSeeTheSame) {
  for (const char* interval : {"3", "7"}) {
    SCOPED_TRACE(interval);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, "async", "none");
    run.set("interval", interval);
    run.set("passes", "4");
    sweep(run);
    std::vector<LossyModel> first;
    for (const anadrome_direction direction : {ANADROME_PASS_FORWARD, ANADROME_PASS_REVERSE,
                                               ANADROME_PASS_REVERSE, ANADROME_PASS_FORWARD}) {
      std::vector<LossyModel> found = pass(run, direction);
      if (direction == ANADROME_PASS_FORWARD) std::reverse(found.begin(), found.end());
      expect_close(found, true);
      if (first.empty()) first = found;
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(found[i] == first[i]) << "step " << std::size_t(kSteps) - 1 - i;
    }
  }
}

class LossyOnDisk : public Lossy {};

TEST_P(LossyOnDisk, NothingIsChangedInMemory) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "revolve", "none");
  const std::vector<LossyModel> found = sweep(run);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(found[i] == states_[std::size_t(kSteps) - 1 - i]);
}

INSTANTIATE_TEST_SUITE_P(Codecs, Lossy, testing::Values("float32", "round", "zfp", "lossy"));
INSTANTIATE_TEST_SUITE_P(Codecs, LossyOnDisk, testing::Values("round", "zfp", "lossy"));
INSTANTIATE_TEST_SUITE_P(Codecs, LossyBits, testing::Values("float32", "round", "zfp"));

TEST(Tolerances, OfFieldsThatCannotHaveThemAreRefused) {
  RunHandle run(MPI_COMM_WORLD);
  LossyModel model(600);
  model.add_to(run);
  const std::int64_t sizes[] = {3, 201};
  EXPECT_EQ(anadrome_set_shape(run, "real", 2, sizes), ANADROME_ERR_ARGUMENT);
  EXPECT_NE(std::string(anadrome_last_error()).find("600 elements, not 603"), std::string::npos);
  EXPECT_EQ(anadrome_set_shape(run, "real", 1, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_shape(run, "packed", 2, sizes), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_shape(run, "other", 2, sizes), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_tolerance(run, "real", -1), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_tolerance(run, "real", NAN), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_ARGUMENT) << "a mistake before begin comes out";
}

TEST(Tolerances, ThatWereRefusedAreNotMadeGoodByAShape) {
  RunHandle run(MPI_COMM_WORLD);
  LossyModel model(600);
  model.add_to(run);
  EXPECT_EQ(anadrome_set_tolerance(run, "real", -1), ANADROME_ERR_ARGUMENT);
  const std::int64_t sizes[] = {3, 200};
  EXPECT_EQ(anadrome_set_shape(run, "real", 2, sizes), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_tolerance(run, "real", 1e-3), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(anadrome_begin(run, 3), ANADROME_OK) << anadrome_last_error();
}

}  // namespace
}  // namespace anadrome::test

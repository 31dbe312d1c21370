// SPDX-License-Identifier: BSD-2-Clause
// The Lorenz example on the ranks this program is started with: thousands of states of 24 bytes.
// Each gradient must have the bits of the one computed with every state kept. The linker lets
// anadrome_next and anadrome_add_field pass through here: a state can be given back wrongly.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <utility>

#include "lorenz_run.h"
#include "mpi_main.h"

namespace {

constexpr std::int64_t kSteps = 20000;

using anadrome::test::directory;

double* state = nullptr;        // the registered array
std::int64_t wrong_state = -1;  // this step's adjoint gets a wrong x_k on the last rank; -1: none
std::int64_t actions = 0;

}  // namespace

extern "C" {
anadrome_status __real_anadrome_add_field(anadrome_run*, const char*, anadrome_role, anadrome_type,
                                          void*, size_t);
anadrome_status __real_anadrome_next(anadrome_run*, anadrome_action*);

anadrome_status __wrap_anadrome_add_field(anadrome_run* run, const char* name, anadrome_role role,
                                          anadrome_type type, void* values, size_t count) {
  state = static_cast<double*>(values);
  return __real_anadrome_add_field(run, name, role, type, values, count);
}

anadrome_status __wrap_anadrome_next(anadrome_run* run, anadrome_action* action) {
  const anadrome_status status = __real_anadrome_next(run, action);
  ++actions;
  if (status == ANADROME_OK && action->kind == ANADROME_ADJOINT && action->first == wrong_state &&
      anadrome::test::rank() == anadrome::test::ranks() - 1)
    state[1] *= 1.0 + 1e-12;
  return status;
}
}

namespace {

class LorenzJob {
 public:
  explicit LorenzJob(const char* schedule) {
    lorenz_options_init(&options);
    options.steps = kSteps;
    options.quiet = 1;
    options.verify = 1;
    set("schedule", schedule);
    // All states and their bookkeeping, or about a fifth of them.
    set("memory", std::string(schedule) == "store_all" ? "4MiB" : "300KiB");
    set("directory", directory().c_str());
    wrong_state = -1;
  }

  /// The value must outlive the job.
  void set(const char* key, const char* value) { settings_add(&options.library, key, value); }

  int run() {
    actions = 0;
    return lorenz_run(MPI_COMM_WORLD, &options, &result);
  }

  lorenz_options options;
  lorenz_result result;
};

void expect_exact_gradient(const LorenzJob& job) {
  const lorenz_result& result = job.result;
  EXPECT_EQ(result.end.exit_code, EXAMPLE_FINE) << result.end.message;
  EXPECT_EQ(result.verified, 1);
  EXPECT_EQ(result.stats.steps, job.options.steps);
  EXPECT_EQ(result.stats.adjoint_steps_taken, job.options.steps);
  EXPECT_EQ(result.stats.forward_steps_remaining, 0);
  EXPECT_LE(result.stats.peak_library_bytes, result.stats.memory_bytes);
}

class LorenzSchedule : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, LorenzSchedule, testing::Values("store_all", "revolve", "async"),
                         [](const auto& parameter) { return std::string(parameter.param); });

// As an objective that counts every step once in every sweep of a run.
TEST_P(LorenzSchedule, GivesTheGradientWithEveryStateKept) {
  for (const int callbacks : {0, 1})
    for (const int unknown : {0, 1}) {
      LorenzJob job(GetParam());
      job.options.callbacks = callbacks;
      job.options.steps_unknown = unknown;
      job.options.repeat = 2;

      job.run();

      expect_exact_gradient(job);
      EXPECT_STREQ(job.result.stats.schedule, GetParam());
    }
}

TEST_P(LorenzSchedule, FindsOneWronglyRestoredState) {
  for (const std::int64_t step : {std::int64_t{0}, kSteps - 1}) {
    LorenzJob job(GetParam());
    wrong_state = step;

    job.run();

    EXPECT_EQ(job.result.end.exit_code, EXAMPLE_WRONG) << "step " << step;
    EXPECT_EQ(job.result.verified, 0);
    EXPECT_GT(job.result.differing, 0);
  }
}

TEST(LorenzSmallStates, AreAdvancedManyStepsAtATimeInAnyLayout) {
  using Case = std::pair<const char*, const char*>;
  for (const auto& [interval, layout] : {Case{"1", "node"}, {"7", "rank"}, {"100", "shared"}}) {
    LorenzJob job("async");
    job.set("interval", interval);
    job.set("layout", layout);

    job.run();

    expect_exact_gradient(job);
    // One action for the adjoint of each step; few for the steps themselves.
    EXPECT_TRUE(interval != std::string("100") || actions < 3 * kSteps) << actions;
  }
}

TEST(LorenzSmallStates, GoRoundWithMemoryForAHandful) {
  for (const char* interval : {"auto", "1", "7"}) {
    LorenzJob job("async");
    job.options.steps = 1000;
    job.set("memory", "24KiB");
    job.set("interval", interval);

    job.run();

    expect_exact_gradient(job);
    EXPECT_LT(job.result.stats.slots, 10);
  }
}

TEST(LorenzGradient, PassesTheTaylorTestAndTheDotProductTest) {
  for (const std::int64_t steps : {20, 2000}) {
    LorenzJob job("async");
    job.options.steps = steps;
    job.options.taylor = job.options.dot_test = 1;

    job.run();

    EXPECT_EQ(job.result.end.exit_code, EXAMPLE_FINE) << job.result.end.message;
    EXPECT_GE(job.result.taylor.slope_count, 4);
    for (int s = 0; s < job.result.taylor.slope_count; ++s)
      EXPECT_NEAR(job.result.taylor.slopes[s], 2.0, 0.1);
    EXPECT_GE(job.result.dot_test_error, 0.0);
    EXPECT_LE(job.result.dot_test_error, 1e-12);
  }
}

}  // namespace

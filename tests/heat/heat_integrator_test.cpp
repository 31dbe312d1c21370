// The integrators of the heat-equation example, with and without the stages of a step as a tape:
// their orders, their adjoints, and the gradient's bits over the schedules.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "heat_job.h"
#include "heat_model.h"
#include "heat_step.h"
#include "mpi_main.h"

namespace {

using anadrome::test::expect_exact_gradient;
using anadrome::test::Job;
using anadrome::test::kSteps;

// The state at a fixed time, reached in 2^halvings times as many steps of the model's size divided
// by 2^halvings. On one rank: the order has nothing to do with the decomposition.
std::vector<double> state_at_fixed_time(heat_integrator integrator, int halvings) {
  constexpr std::int64_t kCoarseSteps = 12;
  heat_model* model = heat_model_create(MPI_COMM_SELF, 8, 6, 1, integrator);
  EXPECT_NE(model, nullptr);
  model->dt = std::ldexp(model->dt, -halvings);
  heat_fill(&model->grid, heat_conductivity, model->u);
  heat_set_faces(model, model->u, &model->faces);
  heat_fill(&model->grid, heat_initial_state, model->u);
  for (std::int64_t k = 0; k < kCoarseSteps << halvings; ++k)
    heat_step(model, k, model->u, model->u);
  const std::vector<double> state(model->u, model->u + heat_grid_cells(&model->grid));
  heat_model_free(model);
  return state;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::fmax(largest, std::fabs(a[i] - b[i]));
  return largest;
}

double observed_order(heat_integrator integrator) {
  const std::vector<double> coarse = state_at_fixed_time(integrator, 2);
  const std::vector<double> middle = state_at_fixed_time(integrator, 3);
  const std::vector<double> fine = state_at_fixed_time(integrator, 4);
  return std::log2(largest_difference(coarse, middle) / largest_difference(middle, fine));
}

TEST(HeatIntegrator, EulerIsOfFirstOrder) { EXPECT_NEAR(observed_order(HEAT_EULER), 1.0, 0.1); }

TEST(HeatIntegrator, RungeKuttaIsOfFourthOrder) { EXPECT_NEAR(observed_order(HEAT_RK4), 4.0, 0.1); }

using Choice = std::tuple<heat_integrator, bool>;
class HeatTape : public testing::TestWithParam<Choice> {
 protected:
  static Job job(const std::string& schedule) {
    Job job(MPI_COMM_WORLD, schedule);
    job.options.integrator = std::get<0>(GetParam());
    job.options.tape = std::get<1>(GetParam()) ? 1 : 0;
    return job;
  }

  // With unknown steps store_all keeps every tape, whether or not all of them will fit.
  static bool must_fit(const std::string& schedule) {
    return schedule == "store_all" && std::get<1>(GetParam());
  }
};

std::string choice_name(const testing::TestParamInfo<Choice>& parameter) {
  const auto& [integrator, tape] = parameter.param;
  return std::string(heat_integrator_name(integrator)) + (tape ? "_tape" : "_recomputed");
}

INSTANTIATE_TEST_SUITE_P(All, HeatTape,
                         testing::Values(Choice{HEAT_EULER, true}, Choice{HEAT_RK4, false},
                                         Choice{HEAT_RK4, true}),
                         choice_name);

// In little memory, and in memory for the tape of every step.
TEST_P(HeatTape, GivesTheSerialGradientUnderEverySchedule) {
  for (const char* schedule : {"store_all", "revolve", "async", "auto"})
    for (const char* memory : {"", "64MiB"})
      for (const int callbacks : {0, 1}) {
        Job sweep = job(schedule);
        sweep.options.steps_unknown = callbacks && (*memory != '\0' || !must_fit(schedule));
        sweep.options.callbacks = callbacks;
        if (*memory != '\0') sweep.set("memory", memory);

        sweep.run();

        SCOPED_TRACE(std::string(schedule) + " memory=" + memory +
                     " callbacks=" + std::to_string(callbacks));
        expect_exact_gradient(sweep);
      }
}

TEST_P(HeatTape, GivesTheSerialGradientWithAnyAnchors) {
  for (const char* interval : {"1", "4"})
    for (const char* transport : {"direct", "mpio"}) {
      Job sweep = job("async");
      sweep.set("interval", interval);
      sweep.set("transport", transport);
      sweep.options.repeat = 2;

      sweep.run();

      SCOPED_TRACE(std::string("interval=") + interval + " transport=" + transport);
      expect_exact_gradient(sweep);
    }
}

TEST_P(HeatTape, GivesTheSerialGradientWithoutCopiesOfStates) {
  for (const char* schedule : {"store_all", "revolve", "async"})
    for (const int callbacks : {0, 1}) {
      Job sweep = job(schedule);
      sweep.options.zero_copy = 1;
      sweep.options.steps_unknown = callbacks && !must_fit(schedule);
      sweep.options.callbacks = callbacks;
      sweep.options.repeat = 2;

      sweep.run();

      SCOPED_TRACE(std::string(schedule) + " callbacks=" + std::to_string(callbacks));
      expect_exact_gradient(sweep);
    }
}

TEST_P(HeatTape, GivesTheSerialGradientWhereStatesAndTapesNest) {
  for (const char* schedule :
       {"mixed", "disk_revolve", "hrevolve", "multistage", "overlapped", "double"}) {
    if (schedule == std::string("mixed") && !std::get<1>(GetParam())) continue;
    for (const int zero_copy : {0, 1})
      for (const char* layout : {"shared", "rank"}) {
        Job sweep = job(schedule);
        sweep.options.zero_copy = zero_copy;
        sweep.options.callbacks = zero_copy;
        sweep.options.repeat = 2;
        sweep.set("layout", layout);

        sweep.run();

        SCOPED_TRACE(std::string(schedule) + " zero_copy=" + std::to_string(zero_copy) + " " +
                     layout);
        expect_exact_gradient(sweep);
      }
  }
}

TEST_P(HeatTape, GivesTheSerialGradientWithCostlierSteps) {
  Job sweep = job("revolve");
  sweep.options.work = 3;

  sweep.run();

  expect_exact_gradient(sweep);
}

TEST_P(HeatTape, PassesTheTaylorTest) {
  Job sweep = job("revolve");
  sweep.options.taylor = 1;

  sweep.run();

  EXPECT_EQ(sweep.result.exit_code, HEAT_FINE) << sweep.result.message;
  EXPECT_GE(sweep.result.taylor.slope_count, 2);
}

TEST_P(HeatTape, PassesTheDotProductTest) {
  Job sweep = job("revolve");
  sweep.options.dot_test = 1;

  sweep.run();

  EXPECT_EQ(sweep.result.exit_code, HEAT_FINE) << sweep.result.message;
  EXPECT_GE(sweep.result.dot_test_error, 0.0);
  EXPECT_LE(sweep.result.dot_test_error, 1e-12);
}

TEST_P(HeatTape, AcceptsRanksWithoutCellsAndFewSteps) {
  for (const std::int64_t steps : {0, 1, 30})
    for (const int zero_copy : {0, 1}) {
      Job sweep = job("async");
      sweep.options.cells_x = 40;
      sweep.options.cells_y = 1;
      sweep.options.steps = steps;
      sweep.options.zero_copy = zero_copy;

      sweep.run();

      EXPECT_EQ(sweep.result.exit_code, HEAT_FINE) << sweep.result.message;
      EXPECT_EQ(sweep.result.verified, 1);
    }
}

// With a tape it is the stage x_k that is wrong: the adjoint takes its stages from there.
TEST_P(HeatTape, VerifyFindsOneThatIsWrong) {
  for (const std::int64_t step : {std::int64_t{0}, kSteps / 2, kSteps - 1}) {
    Job sweep = job("async");
    sweep.options.wrong_state = step;

    sweep.run();

    EXPECT_EQ(sweep.result.exit_code, HEAT_WRONG);
    EXPECT_EQ(sweep.result.verified, 0);
    EXPECT_GT(sweep.result.difference.values, 0);
  }
}

}  // namespace

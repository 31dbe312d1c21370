// SPDX-License-Identifier: BSD-2-Clause
// The stated error of the gradient: near the true one, and found without a trace.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

constexpr std::int64_t kSteps = 60;

// x -> x + 0.1 sin(x + m), J = |x_n|^2 / 2: the gradient is with respect to m, of each number.
class Problem {
 public:
  Problem() : x_(kCount), adjoint_(kCount), gradient_(kCount), parameter_(kCount) {
    for (std::size_t i = 0; i < kCount; ++i) parameter_[i] = std::cos(0.01 * double(i) + rank());
  }

  static constexpr std::size_t kCount = 40'000;
  static constexpr std::int64_t kProbeBytes = 2 * 2 * 8 * std::int64_t{kCount};
  struct Result {
    std::vector<double> gradient;
    anadrome_stats stats;
    std::int64_t trials = 0;  ///< adjoint steps with `again`
  };
  Result sweep(anadrome_run* run) {
    for (std::size_t i = 0; i < kCount; ++i) x_[i] = std::sin(0.003 * double(i));
    gradient_.assign(kCount, 0);
    Result result;
    const auto act = [&](const anadrome_action& action) {
      take_steps(action, [&](std::int64_t) { step(); });
      if (action.kind == ANADROME_TURN) adjoint_ = x_;
      if (action.kind != ANADROME_ADJOINT) return;
      step_back();
      result.trials += action.again;
    };
    EXPECT_EQ(follow(run, anadrome_begin(run, kSteps), act), ANADROME_OK) << anadrome_last_error();
    result.gradient = gradient_;
    result.stats.size = sizeof result.stats;
    anadrome_statistics(run, &result.stats);
    return result;
  }
  void add_to(anadrome_run* run) {
    add_array(run, "x", x_);
    add_array(run, "adjoint", adjoint_, ANADROME_ROLE_ADJOINT);
    add_array(run, "gradient", gradient_, ANADROME_ROLE_ADJOINT);
  }

 private:
  void step() {
    for (std::size_t i = 0; i < kCount; ++i) x_[i] += 0.1 * std::sin(x_[i] + parameter_[i]);
  }
  void step_back() {
    for (std::size_t i = 0; i < kCount; ++i) {
      const double slope = 0.1 * std::cos(x_[i] + parameter_[i]);
      gradient_[i] += adjoint_[i] * slope;
      adjoint_[i] *= 1 + slope;
    }
  }
  std::vector<double> x_, adjoint_, gradient_, parameter_;
};

// Of all ranks together.
double relative_error(const std::vector<double>& found, const std::vector<double>& exact) {
  double sums[2] = {};
  for (std::size_t i = 0; i < found.size(); ++i) {
    sums[0] += (found[i] - exact[i]) * (found[i] - exact[i]);
    sums[1] += exact[i] * exact[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return std::sqrt(sums[0] / sums[1]);
}

void prepare(RunHandle& run, Problem& problem, const char* compress) {
  problem.add_to(run);
  run.set("schedule", "async");
  run.set("interval", "4");
  run.set("compress", compress);
  run.set("memory", "6MiB");
}

class Probes : public testing::TestWithParam<const char*> {
 protected:
  std::vector<double> exact() {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, problem_, "off");
    return problem_.sweep(run).gradient;
  }
  Problem problem_;
};

TEST_P(Probes, StateTheErrorLeaveNoTraceAndKeepWhatIsAskedFor) {
  const std::vector<double> wanted = exact();
  for (const char* tolerance : {"1e-3", "1e-8"}) {
    SCOPED_TRACE(tolerance);
    std::vector<Problem::Result> results;
    for (const bool probe : {false, true}) {
      RunHandle run(MPI_COMM_WORLD);
      prepare(run, problem_, GetParam());
      run.set("tolerance", tolerance);
      run.set("probe", probe ? "on" : "off");
      if (probe)  // as many blocks, beside the copies of the adjoint fields
        run.set("memory", std::to_string((std::int64_t{6} << 20) + Problem::kProbeBytes) + "B");
      for (int sweep = 0; sweep < (probe ? 2 : 1); ++sweep) {
        results.push_back(problem_.sweep(run));
        EXPECT_EQ(results.back().gradient, results[0].gradient) << "the same bits as without";
      }
      EXPECT_LE(results.back().stats.peak_library_bytes, results.back().stats.memory_bytes);
    }
    const double error = relative_error(results[0].gradient, wanted);
    EXPECT_GT(error, 0);
    EXPECT_EQ(results[0].trials, 0);
    EXPECT_EQ(results[0].stats.gradient_error, 0);
    for (const Problem::Result& result : {results[1], results[2]}) {
      EXPECT_GT(result.stats.gradient_error, error / 3);
      EXPECT_LT(result.stats.gradient_error, 3 * error);
      EXPECT_GT(result.trials, kSteps / 2);
    }
  }
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, problem_, GetParam());
  run.set("tolerance", std::string(GetParam()) == "round" ? "1e-2" : "1e-10");
  run.set("gradient_error", "1e-6");
  for (int sweep = 0; sweep < 2; ++sweep) problem_.sweep(run);
  const Problem::Result third = problem_.sweep(run);
  const double error = relative_error(third.gradient, wanted);
  EXPECT_GT(error, 1e-6 / 3) << third.stats.tolerance;
  EXPECT_LT(error, 3e-6) << third.stats.tolerance;
}

INSTANTIATE_TEST_SUITE_P(Codecs, Probes, testing::Values("round", "zfp"));

TEST(Probe, IsRefusedWhereStepsCannotBeTakenTwice) {
  std::vector<double> x(1000), adjoint(1000);
  RunHandle run(MPI_COMM_WORLD);
  add_array(run, "x", x);
  run.set("compress", "round");
  run.set("probe", "on");
  EXPECT_EQ(anadrome_begin(run, 100), ANADROME_ERR_UNSUPPORTED);
  EXPECT_TRUE(has_part(anadrome_last_error(), "adjoint fields"));
  add_array(run, "adjoint", adjoint, ANADROME_ROLE_ADJOINT);
  run.set("schedule", "revolve");
  EXPECT_EQ(anadrome_begin(run, 100), ANADROME_ERR_UNSUPPORTED);
  EXPECT_TRUE(has_part(anadrome_last_error(), "schedule=async"));
  run.set("schedule", "async");
  run.set("gradient_error", "1e-4");
  run.set("resume", "on");
  EXPECT_EQ(anadrome_begin(run, 100), ANADROME_ERR_UNSUPPORTED);
  EXPECT_TRUE(has_part(anadrome_last_error(), "gradient_error=off"));
  run.set("resume", "off");
  EXPECT_EQ(anadrome_begin(run, 100), ANADROME_OK) << anadrome_last_error();
}

}  // namespace
}  // namespace anadrome::test

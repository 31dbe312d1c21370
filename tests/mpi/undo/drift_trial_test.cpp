// SPDX-License-Identifier: BSD-2-Clause
// schedule=undo without residuals and with probe=on: the stated error of the gradient is near the
// true one, and found without a trace.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "has_part.h"
#include "models.h"
#include "own_loop.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

// A string by leapfrog on a ring of all ranks, with a sponge on each. The objective is half the sum
// of squares at the end, and the gradient with respect to the squared speed at each point.
template <class Number>
class SoundString {
 public:
  static constexpr std::size_t kPoints = 1000;

  explicit SoundString(double sponge) : ring_(1) {
    for (std::size_t i = 0; i < kPoints; ++i)
      damping_[i] = Number(sponge * std::exp(-1e-3 * std::pow(double(i) - 100, 2)));
  }
  struct Result {
    anadrome_status status = ANADROME_OK;
    std::vector<Number> gradient;
    std::int64_t advances = 0;  ///< as counted in an adjoint field
    anadrome_stats stats = {};
    std::int64_t trials = 0, resumed_at = -1;
  };
  Result sweep(std::int64_t steps, const RunOptions& options, std::int64_t stop_at = -1) {
    RunHandle run(MPI_COMM_WORLD);
    add_array(run, "now", now_);
    add_array(run, "before", before_);
    add_array(run, "adjoint", adjoint_, ANADROME_ROLE_ADJOINT);
    add_array(run, "earlier", earlier_, ANADROME_ROLE_ADJOINT);
    add_array(run, "gradient", gradient_, ANADROME_ROLE_ADJOINT);
    add_number(run, "k", k_);
    add_number(run, "advances", advances_, ANADROME_ROLE_ADJOINT);
    for (const auto& [key, value] : options) run.set(key, value);
    Result result;
    result.status = anadrome_begin(run, steps);
    anadrome_phase phase = ANADROME_PHASE_IDLE;
    std::int64_t step = 0, actions = 0;
    anadrome_resumed(run, &phase, &step);
    if (phase == ANADROME_PHASE_IDLE) start();
    if (phase == ANADROME_PHASE_REVERSE) result.resumed_at = step;
    result.status = follow(run, result.status, [&](const anadrome_action& action) {
      if (actions++ == stop_at && rank() == 0) anadrome_request_stop(run);
      take_steps(action, [&](std::int64_t) { advance(); });
      if (action.kind == ANADROME_RETREAT) undo();
      if (action.kind == ANADROME_TURN) adjoint_ = now_;
      if (action.kind != ANADROME_ADJOINT) return;
      EXPECT_EQ(k_, action.first);
      step_back();
      result.trials += action.again;
    });
    result.gradient = gradient_;
    result.advances = advances_;
    result.stats = run.statistics();
    return result;
  }

 private:
  using Field = std::vector<Number>;
  void start() {
    for (std::size_t i = 0; i < kPoints; ++i)
      now_[i] = before_[i] = Number(std::exp(-1e-3 * std::pow(double(i) - 400 - rank(), 2)));
    for (Field* const field : {&adjoint_, &earlier_, &gradient_}) field->assign(kPoints, 0);
    k_ = advances_ = 0;
  }
  void advance() {
    ++advances_;
    ++k_;
    ring_.exchange(now_);
    for (std::size_t i = 0; i < kPoints; ++i) {
      const Number kept = (1 - damping_[i]) * before_[i];
      before_[i] = (2 * now_[i] - kept + kSpeed * pull(now_, i)) / (1 + damping_[i]);
    }
    std::swap_ranges(now_.begin(), now_.end(), before_.begin());
  }
  void undo() {
    --k_;
    ring_.exchange(before_);
    for (std::size_t i = 0; i < kPoints; ++i) {
      const Number next = (1 + damping_[i]) * now_[i];
      now_[i] = (2 * before_[i] - next + kSpeed * pull(before_, i)) / (1 - damping_[i]);
    }
    std::swap_ranges(now_.begin(), now_.end(), before_.begin());
  }
  void step_back() {
    ring_.exchange(now_);
    for (std::size_t i = 0; i < kPoints; ++i) {
      adjoint_[i] /= 1 + damping_[i];
      gradient_[i] += adjoint_[i] * pull(now_, i);
    }
    ring_.exchange(adjoint_);
    for (std::size_t i = 0; i < kPoints; ++i) {
      const Number adjoint = adjoint_[i];
      earlier_[i] += 2 * adjoint + kSpeed * pull(adjoint_, i);
      of_before_[i] = -(1 - damping_[i]) * adjoint;
    }
    adjoint_ = earlier_;
    earlier_ = of_before_;
  }
  Number pull(const Field& of, std::size_t i) const {
    const auto here = static_cast<std::ptrdiff_t>(i);
    return ring_.at(of, here - 1) - 2 * of[i] + ring_.at(of, here + 1);
  }

  static constexpr Number kSpeed = Number(0.3);
  Field now_ = Field(kPoints), before_ = now_, adjoint_ = now_, earlier_ = now_, gradient_ = now_;
  Field of_before_ = now_, damping_ = now_;
  std::int64_t k_ = 0, advances_ = 0;
  Ring<Number> ring_;
};

RunOptions drifting(const char* interval, const char* probe) {
  return {{"schedule", "undo"}, {"compress", "lossy"}, {"interval", interval},
          {"tolerance", "0.5"}, {"probe", probe},      {"memory", "1MiB"}};
}

template <class Number>
double apart(const std::vector<Number>& found, const std::vector<Number>& exact) {
  double sums[2] = {};
  for (std::size_t i = 0; i < found.size(); ++i) {
    sums[0] += std::pow(double(found[i]) - double(exact[i]), 2);
    sums[1] += std::pow(double(exact[i]), 2);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return std::sqrt(sums[0] / sums[1]);
}

template <class Number>
void states_the_error() {
  constexpr std::int64_t kLong = 300;
  for (const double sponge : {0., 0.02, 0.1}) {
    SoundString<Number> model(sponge);
    const auto exact = model.sweep(kLong, {{"schedule", "store_all"}});
    for (const char* interval : {"10", "40", "150"}) {
      SCOPED_TRACE("sponge " + std::to_string(sponge) + ", interval " + interval);
      const auto plain = model.sweep(kLong, drifting(interval, "off"));
      const auto tried = model.sweep(kLong, drifting(interval, "on"));
      ASSERT_EQ(tried.status, ANADROME_OK) << anadrome_last_error();
      EXPECT_EQ(tried.gradient, plain.gradient) << "the trial leaves no trace";
      EXPECT_EQ(tried.advances, plain.advances);
      EXPECT_EQ(tried.stats.drift, plain.stats.drift);
      EXPECT_EQ(plain.stats.gradient_error, 0);
      EXPECT_EQ(plain.trials, 0);
      EXPECT_EQ(tried.trials, kLong);
      EXPECT_LE(tried.stats.peak_library_bytes, tried.stats.memory_bytes);
      const double error = apart(tried.gradient, exact.gradient);
      EXPECT_GT(tried.stats.gradient_error, 0.3 * error);
      EXPECT_LT(tried.stats.gradient_error, 3 * error);
    }
  }
}

TEST(DriftTrial, StatesTheErrorOfADoubleGradient) { states_the_error<double>(); }
TEST(DriftTrial, StatesTheErrorOfASingleGradient) { states_the_error<float>(); }

// What the trial had gathered is not committed: the sweep that goes on knows no error.
TEST(DriftTrial, ASweepThatGoesOnHasTheSameGradientAndNoTrial) {
  SoundString<double> model(0.02);
  RunOptions options = drifting("7", "on");
  const auto whole = model.sweep(kSteps, options);
  options.insert(options.end(), {{"resume", "on"}, {"checkpoint_interval", "0"}});
  for (const std::int64_t stop_at : {4, 20, 21, 40, 41, 80}) {
    SCOPED_TRACE(stop_at);
    ASSERT_EQ(model.sweep(kSteps, options, stop_at).status, ANADROME_STOPPED);
    const auto rest = model.sweep(kSteps, options);
    ASSERT_EQ(rest.status, ANADROME_OK) << anadrome_last_error();
    EXPECT_EQ(rest.gradient, whole.gradient);
    const bool turned = rest.resumed_at >= 0;
    EXPECT_EQ(turned, stop_at > 8);
    EXPECT_EQ(rest.trials, turned ? 0 : kSteps);
    EXPECT_EQ(rest.stats.gradient_error, turned ? 0 : whole.stats.gradient_error);
  }
}

TEST(DriftTrial, TheSummaryHasTheErrorAndTheDriftOfAllRanks) {
  const std::string file = directory() + "/summary";
  SoundString<double> model(rank() == 0 ? 0 : 0.1);  // whose drift is larger
  RunOptions options = drifting("20", "on");
  options.emplace_back("report", file);
  const auto found = model.sweep(kSteps, options);
  ASSERT_EQ(found.status, ANADROME_OK) << anadrome_last_error();
  if (rank() != 0) return;
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto written = [](double number) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.1e", number);
    return std::string(digits);
  };
  EXPECT_TRUE(has_part(text, "drift " + written(found.stats.drift) + " in 20 steps"));
  EXPECT_TRUE(has_part(text, written(found.stats.gradient_error) + " of the gradient, by drift"));
}

TEST(DriftTrial, WhatDoesNotSuitIsRefused) {
  std::vector<double> x(10);
  const auto begin = [&](bool has_adjoint, const RunOptions& more) {
    RunHandle run(MPI_COMM_WORLD);
    add_array(run, "x", x);
    std::vector<double> adjoint(10);
    if (has_adjoint) add_array(run, "adjoint", adjoint, ANADROME_ROLE_ADJOINT);
    for (const auto& [key, value] : drifting("4", "on")) run.set(key, value);
    for (const auto& [key, value] : more) run.set(key, value);
    return anadrome_begin(run, kSteps);
  };
  EXPECT_EQ(begin(true, {}), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(begin(false, {}), ANADROME_ERR_UNSUPPORTED);
  EXPECT_TRUE(has_part(anadrome_last_error(), "probe=off"));
  EXPECT_EQ(begin(true, {{"gradient_error", "1e-6"}}), ANADROME_ERR_UNSUPPORTED);
  EXPECT_TRUE(has_part(anadrome_last_error(), "gradient_error=off"));
  // A sweep below hides some options, which ranks have to give alike all the same.
  const char* const hidden[][3] = {
      {"interval", "4", "5"}, {"probe", "on", "off"}, {"audit", "error", "off"}};
  for (const auto& [key, first, other] : hidden) {
    const bool differs = ranks() > 1;
    EXPECT_EQ(begin(true, {{key, rank() == 0 ? first : other}}),
              differs ? ANADROME_ERR_ARGUMENT : ANADROME_OK);
    if (differs) {
      EXPECT_TRUE(has_part(anadrome_last_error(), std::string("option ") + key));
    }
  }
}

}  // namespace
}  // namespace anadrome::test

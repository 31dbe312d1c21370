// SPDX-License-Identifier: BSD-2-Clause
#include "check/taylor_remainders.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "check/gradient_findings.h"

namespace anadrome::engine {
namespace {

constexpr double kUnit = 0x1p-53;
using Function = std::function<double(double)>;

// What a check would do with J(m + e dm) = `objective`(e).
TaylorOutcome outcome_of(const Function& objective, double derivative, double unit = kUnit,
                         double epsilon = 1e-2) {
  std::vector<double> near;
  for (int k = 0; k <= 4; ++k) near.push_back(objective(k * 64 * unit));
  const TaylorRemainders remainders(objective(0),
                                    std::max(noise_of(near), kUnit * std::abs(objective(0))), unit);
  TaylorSeries series;
  series.derivative = derivative;
  for (; !remainders.is_enough(series); epsilon /= 10) {
    series.epsilon.push_back(epsilon);
    series.objective.push_back(objective(epsilon));
  }
  return remainders.judge(series);
}

double curved(double e) { return std::exp(std::sin(3 * e) + 0.2); }
const double kCurvedDerivative = 3 * std::exp(0.2);

TEST(Noise, IsTheRoundOffOfASmoothFunction) {
  std::vector<double> values;
  for (int k = 0; k <= 40; ++k) values.push_back(1 + 1e-6 * k + (k % 2 == 0 ? 1e-9 : -1e-9));
  EXPECT_NEAR(noise_of(values), std::sqrt(16.0 / 6) * 1e-9, 1e-11);
  EXPECT_EQ(noise_of({}), 0);
}

TEST(TaylorRemainders, SeesARightDerivative) {
  const TaylorOutcome outcome = outcome_of(curved, kCurvedDerivative);
  EXPECT_EQ(outcome.verdict, ANADROME_VERDICT_RIGHT);
  EXPECT_NEAR(outcome.slope, 2, 0.1);
  EXPECT_NEAR(outcome.first_slope, 1, 0.01);
  EXPECT_NEAR(outcome.ratio, 1, 1e-4);
  EXPECT_LT(outcome.resolution, 1e-4);
}

TEST(TaylorRemainders, SeesAWrongDerivativeByItsSlope) {
  for (const double factor : {-1.0, 0.0, 2.0, 0.5, 1.01, 1.0001}) {
    const TaylorOutcome outcome = outcome_of(curved, factor * kCurvedDerivative);
    EXPECT_EQ(outcome.verdict, ANADROME_VERDICT_WRONG) << factor;
    EXPECT_NEAR(outcome.slope, 1, 0.2) << factor;
    EXPECT_NEAR(outcome.ratio, factor, 1e-5) << factor;
  }
  EXPECT_EQ(outcome_of(curved, NAN).verdict, ANADROME_VERDICT_WRONG);
}

TEST(TaylorRemainders, CopesWithRoundOffOnlyWhereTheObjectiveIsLinear) {
  const Function linear = [](double e) { return 7 + 3 * e; };
  EXPECT_EQ(outcome_of(linear, 3).verdict, ANADROME_VERDICT_RIGHT);
  EXPECT_EQ(outcome_of(linear, 3).slope, 0);
  EXPECT_EQ(outcome_of(linear, 3 * (1 + 1e-13)).verdict, ANADROME_VERDICT_RIGHT);
  EXPECT_EQ(outcome_of(linear, 3.001).verdict, ANADROME_VERDICT_WRONG);
  EXPECT_EQ(outcome_of(linear, -3).verdict, ANADROME_VERDICT_WRONG);
}

TEST(TaylorRemainders, CopesWithAnOptimumAndWithAQuadraticObjective) {
  const Function square = [](double e) { return 1 + e * e; };
  const TaylorOutcome outcome = outcome_of(square, 0);
  EXPECT_EQ(outcome.verdict, ANADROME_VERDICT_RIGHT);
  EXPECT_NEAR(outcome.slope, 2, 0.01);
  EXPECT_NEAR(outcome.first_slope, 2, 0.01);
  EXPECT_EQ(outcome_of(square, 1.3e-4).verdict, ANADROME_VERDICT_WRONG);
}

double single(double value) { return static_cast<double>(static_cast<float>(value)); }

// Where the perturbations by which round-off is measured change nothing, single precision is inside
// a model whose fields are double.
TEST(TaylorRemainders, CopesWithSinglePrecisionMeasuredOrNot) {
  const Function measured = [](double e) { return single(curved(e)); };
  const Function inside = [](double e) { return single(curved(single(e))); };
  constexpr double kSingle = 0x1p-24;
  for (const auto& [factor, verdict] :
       {std::pair(1.0, ANADROME_VERDICT_RIGHT), std::pair(1.1, ANADROME_VERDICT_WRONG),
        std::pair(-1.0, ANADROME_VERDICT_WRONG)}) {
    const double derivative = factor * kCurvedDerivative;
    EXPECT_EQ(outcome_of(measured, derivative, kSingle, 0.1).verdict, verdict) << factor;
  }
  EXPECT_EQ(outcome_of(inside, kCurvedDerivative).verdict, ANADROME_VERDICT_RIGHT);
  EXPECT_EQ(outcome_of(inside, 2 * kCurvedDerivative).verdict, ANADROME_VERDICT_WRONG);
}

TEST(TaylorRemainders, CopesWithPerturbationsThatAreTooLarge) {
  const Function stiff = [](double e) {
    return std::exp(1e3 * e) > 1e3 ? INFINITY : 1 + std::sin(1e3 * e);
  };
  EXPECT_EQ(outcome_of(stiff, 1e3).verdict, ANADROME_VERDICT_RIGHT);
  EXPECT_EQ(outcome_of(stiff, 1.2e3).verdict, ANADROME_VERDICT_WRONG);
}

// A chaotic model: what is perturbed by a hundredth is another trajectory at the end.
TEST(TaylorRemainders, LooksCloserWhereTheObjectiveIsFarFromLinear) {
  const auto chaotic = [](double e) {
    double x = 0.3 + 0.1 * e;
    for (int k = 0; k < 18; ++k) x = 4 * x * (1 - x);  // the logistic map doubles a difference
    return x;
  };
  double x = 0.3, derivative = 0.1;
  for (int k = 0; k < 18; ++k) {
    derivative *= 4 - 8 * x;
    x = 4 * x * (1 - x);
  }
  EXPECT_EQ(outcome_of(chaotic, derivative).verdict, ANADROME_VERDICT_RIGHT);
  EXPECT_NEAR(outcome_of(chaotic, derivative).ratio, 1, 1e-3);
  for (const double factor : {-1.0, 0.0, 1.1}) {
    EXPECT_EQ(outcome_of(chaotic, factor * derivative).verdict, ANADROME_VERDICT_WRONG) << factor;
  }
}

TEST(TaylorRemainders, DecidesNothingWhereNothingIsSeen) {
  const std::vector<std::pair<Function, double>> all = {
      {[](double) { return 3.0; }, 0},
      {[](double e) { return 1 + 1e-13 * e; }, 1e-13},
      {[](double e) { return e > 0 ? INFINITY : 0.0; }, 0},
      {[](double e) { return 1 + std::sqrt(e); }, 1}};  // a kink
  for (const auto& [objective, derivative] : all)
    EXPECT_EQ(outcome_of(objective, derivative).verdict, ANADROME_VERDICT_UNDECIDED) << derivative;
  // Of a trajectory that is another, with slopes near 1 and 2.
  TaylorSeries series{.derivative = 700,
                      .epsilon = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6},
                      .objective = {3.1e4, 2.2e4, 140, 31, 14.5}};
  EXPECT_EQ(TaylorRemainders(0, 1e-12, kUnit).judge(series).verdict, ANADROME_VERDICT_UNDECIDED);
}

TEST(GradientFindings, HaveDotProductsThatAgreeOnlyWhereMostAreDecided) {
  GradientFindings findings;
  findings.objective = findings.after_reverse = findings.repeated = 1;
  findings.noise = findings.unit = 1e-16;
  TaylorSeries& series = findings.series.emplace_back();
  series.derivative = 1;
  for (double e = 1e-2; e > 1e-6; e /= 10) {
    series.epsilon.push_back(e);
    series.objective.push_back(1 + std::sin(e) + e * e);
  }
  for (const std::size_t right : {std::size_t{2}, std::size_t{20}}) {
    findings.products.assign(32, {});
    for (std::size_t k = 0; k < right; ++k) findings.products[k].verdict = ANADROME_VERDICT_RIGHT;
    const anadrome_gradient_check check = result_of(findings);
    EXPECT_EQ(check.verdict, ANADROME_VERDICT_RIGHT) << check.message;
    EXPECT_EQ(check.product_verdict,
              right > 16 ? ANADROME_VERDICT_RIGHT : ANADROME_VERDICT_UNDECIDED);
    const std::string undecided = std::to_string(32 - right);
    EXPECT_EQ(std::string(check.message).find("undecided at " + undecided) != std::string::npos,
              right < 16)
        << check.message;
    EXPECT_NE(report_of(findings, check).find("steps, " + undecided + " of them undecided"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace anadrome::engine

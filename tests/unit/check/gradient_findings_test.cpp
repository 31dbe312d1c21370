// SPDX-License-Identifier: BSD-2-Clause
#include "check/gradient_findings.h"

#include <gtest/gtest.h>

#include <cmath>

namespace anadrome::engine {
namespace {

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

// SPDX-License-Identifier: BSD-2-Clause
// What a check of the gradient found, in numbers, and the same as a result and as a report.
#pragma once

#include <anadrome/gradient.h>

#include <cstdint>
#include <string>
#include <vector>

#include "check/dot_products.h"
#include "check/taylor_remainders.h"

namespace anadrome::engine {

struct GradientFindings {
  std::int64_t steps = 0;
  int ranks = 1;
  double objective = 0;              ///< of the run's sweep
  double after_reverse = 0;          ///< of the state at TURN, asked for after the reverse sweep
  double repeated = 0;               ///< of the same controls after all others
  double noise = 0;                  ///< their round-off
  double unit = 0;                   ///< of one operation of the model
  std::vector<TaylorSeries> series;  ///< by seed
  std::vector<ProductOutcome> products;
  std::string pairs, left_out;  ///< names of fields
};

/// The struct for the caller, its message included.
anadrome_gradient_check result_of(const GradientFindings& findings);
/// Several lines for people.
std::string report_of(const GradientFindings& findings, const anadrome_gradient_check& check);

}  // namespace anadrome::engine

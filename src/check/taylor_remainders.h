// SPDX-License-Identifier: BSD-2-Clause
// What objectives at perturbed controls say about a derivative. Numbers only: no model, no ranks.
//
// The remainder J(m + e dm) - J(m) - e dJ of a right derivative falls with e^2 until it is
// round-off, that of a wrong one with e. The two smallest e whose remainders are not round-off
// decide: there the higher orders are least.
#pragma once

#include <anadrome/gradient.h>

#include <cstddef>
#include <span>
#include <vector>

namespace anadrome::engine {

/// The round-off of a function, from its values at equal distances that are so small that its
/// second differences are nothing else. Source: More & Wild 2011, Estimating computational noise.
double noise_of(std::span<const double> values);

/// Objectives in one direction, by falling perturbation.
struct TaylorSeries {
  static constexpr std::size_t kMost = 9;
  double derivative = 0;
  std::vector<double> epsilon, objective;
};

struct TaylorOutcome {
  anadrome_verdict verdict = ANADROME_VERDICT_UNDECIDED;
  double slope = 0, first_slope = 0;  ///< 0: not known
  double ratio = 0;                   ///< the derivative over that by differences; 0: not known
  double resolution = 1;              ///< relative errors below this are not seen
};

class TaylorRemainders {
 public:
  /// `objective`: at e = 0; `noise`: its round-off; `unit`: that of one operation of the model.
  TaylorRemainders(double objective, double noise, double unit)
      : objective_(objective), floor_(10 * noise), derivative_noise_(1e4 * unit) {}

  /// No smaller perturbation is needed, or would show anything but round-off.
  bool is_enough(const TaylorSeries& series) const;
  TaylorOutcome judge(const TaylorSeries& series) const;
  /// |J(m + e dm) - J(m)| of perturbation `i`, and the same less e dJ.
  double difference(const TaylorSeries& series, std::size_t i) const;
  double remainder(const TaylorSeries& series, std::size_t i) const;

 private:
  /// The size that the derivative has, by itself or by differences.
  double scale(const TaylorSeries& series) const;
  double round_off(const TaylorSeries& series, std::size_t i) const;
  double difference_quotient(const TaylorSeries& series) const;
  bool is_settled(const TaylorSeries& series, std::size_t last) const;

  double objective_, floor_, derivative_noise_;
};

}  // namespace anadrome::engine

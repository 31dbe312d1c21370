// SPDX-License-Identifier: BSD-2-Clause
#include "check/taylor_remainders.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/index.h"

namespace anadrome::engine {
namespace {

constexpr double kRight = 1.75, kWrong = 1.25, kKink = 0.75, kNoise = 0.5;
constexpr double kSeen = 1e-2;  // an error of the derivative that a test has to be able to see

using Size = std::function<double(std::size_t)>;

double slope_between(const TaylorSeries& series, const Size& size, std::size_t i) {
  return std::log(size(i) / size(i + 1)) / std::log(series.epsilon[i] / series.epsilon[i + 1]);
}

// Perturbations [first, last) whose sizes are above the floor, up to the first one that is not.
struct Range {
  std::size_t first = 0, last = 0;
  std::size_t count() const { return last - first; }
};

Range above(const TaylorSeries& series, const Size& size, const Size& floor) {
  Range range;
  while (range.first < series.epsilon.size() && !std::isfinite(size(range.first))) ++range.first;
  range.last = range.first;
  while (range.last < series.epsilon.size() && size(range.last) > floor(range.last)) ++range.last;
  return range;
}

}  // namespace

double noise_of(std::span<const double> values) {
  double sum = 0;
  for (std::size_t i = 0; i + 2 < values.size(); ++i) {
    const double second = values[i] - 2 * values[i + 1] + values[i + 2];
    sum += second * second;
  }
  // The second difference of independent errors has 1 + 4 + 1 times their variance.
  return values.size() < 3 ? 0 : std::sqrt(sum / (6 * real(std::ssize(values) - 2)));
}

double TaylorRemainders::difference(const TaylorSeries& series, std::size_t i) const {
  return std::abs(series.objective[i] - objective_);
}

double TaylorRemainders::remainder(const TaylorSeries& series, std::size_t i) const {
  return std::abs(series.objective[i] - objective_ - series.epsilon[i] * series.derivative);
}

double TaylorRemainders::scale(const TaylorSeries& series) const {
  double scale = std::abs(series.derivative);
  for (std::size_t i = 0; i < series.epsilon.size(); ++i) {
    const double quotient = difference(series, i) / series.epsilon[i];
    if (std::isfinite(quotient) && difference(series, i) > floor_) {
      return std::max(scale, quotient);
    }
  }
  return scale;
}

// Of the objective, and of a derivative that was computed in another order of operations.
double TaylorRemainders::round_off(const TaylorSeries& series, std::size_t i) const {
  return std::max(floor_, derivative_noise_ * scale(series) * series.epsilon[i]);
}

bool TaylorRemainders::is_enough(const TaylorSeries& series) const {
  constexpr std::size_t kUsual = 5;
  const std::size_t count = series.epsilon.size();
  if (count >= TaylorSeries::kMost ||
      (count >= kUsual && judge(series).verdict != ANADROME_VERDICT_UNDECIDED))
    return true;
  return count >= 2 && remainder(series, count - 1) <= round_off(series, count - 1);
}

// Are the last perturbations so small that the objective is nearly linear in them? Otherwise, as in
// a chaotic model, it says nothing about a derivative.
bool TaylorRemainders::is_settled(const TaylorSeries& series, std::size_t last) const {
  constexpr double kAlike = 0.5;
  const auto quotient = [&](std::size_t i) {
    return (series.objective[i] - objective_) / series.epsilon[i];
  };
  const double smaller = quotient(last), larger = quotient(last - 1);
  return std::abs(smaller - larger) <=
         kAlike * std::max(std::abs(smaller), std::abs(series.derivative));
}

// Extrapolated to e = 0 where two differences are so large that their round-off does not count.
double TaylorRemainders::difference_quotient(const TaylorSeries& series) const {
  const Size size = [&](std::size_t i) { return difference(series, i); };
  const Range clear = above(series, size, [this](std::size_t) { return 100 * floor_; });
  if (clear.count() == 0) return 0;
  const auto quotient = [&](std::size_t i) {
    return (series.objective[i] - objective_) / series.epsilon[i];
  };
  const std::size_t last = clear.last - 1;
  if (clear.count() == 1) return quotient(last);
  const double larger = series.epsilon[last - 1], smaller = series.epsilon[last];
  return (larger * quotient(last) - smaller * quotient(last - 1)) / (larger - smaller);
}

TaylorOutcome TaylorRemainders::judge(const TaylorSeries& series) const {
  TaylorOutcome outcome;
  const Size first_size = [&](std::size_t i) { return difference(series, i); };
  const Size size = [&](std::size_t i) { return remainder(series, i); };
  const double scale = this->scale(series);
  const double quotient = difference_quotient(series);
  if (quotient != 0) outcome.ratio = series.derivative / quotient;
  const Range differences = above(series, first_size, [this](std::size_t) { return floor_; });
  if (differences.count() >= 2) {
    outcome.first_slope = slope_between(series, first_size, differences.last - 2);
  }
  if (!std::isfinite(series.derivative)) {
    outcome.verdict = ANADROME_VERDICT_WRONG;
    return outcome;
  }

  // Remainders at the end that do not fall are round-off, too, whatever was measured.
  double raised = 0;
  const Size floor = [&](std::size_t i) { return std::max(raised, round_off(series, i)); };
  Range range = above(series, size, floor);
  for (Range rest = range; rest.count() >= 2; --rest.last) {
    if (slope_between(series, size, rest.last - 2) >= kNoise) break;
    raised = std::max(raised, 10 * size(rest.last - 1));
  }
  range = above(series, size, floor);

  for (std::size_t i = 0; i < series.epsilon.size() && scale > 0; ++i) {
    if (!std::isfinite(size(i))) continue;
    const double seen =
        std::max(floor(i), i < range.last ? size(i) : 0) / (series.epsilon[i] * scale);
    outcome.resolution = std::min(outcome.resolution, seen);
  }
  if (range.count() >= 2) {
    outcome.slope = slope_between(series, size, range.last - 2);
    if (outcome.slope >= kRight && outcome.resolution <= kSeen) {
      outcome.verdict = ANADROME_VERDICT_RIGHT;
      for (std::size_t i = range.last - 1; i-- > range.first;) {  // round-off bends the last ones
        const double slope = slope_between(series, size, i);
        if (std::abs(slope - 2) < std::abs(outcome.slope - 2)) outcome.slope = slope;
      }
    } else if (kKink <= outcome.slope && outcome.slope <= kWrong &&
               is_settled(series, range.last - 1)) {
      outcome.verdict = ANADROME_VERDICT_WRONG;
    }
  } else if (outcome.resolution <= kSeen) {
    outcome.verdict = ANADROME_VERDICT_RIGHT;
  }
  return outcome;
}

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// A correlation in time that tests sketch: its sums, and the variances that the kinds have.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sketch/sketch.h"

namespace anadrome::sketch {

/// x_t and y_t, t by t, `points` of each.
struct Correlation {
  std::int64_t points;
  std::vector<std::vector<double>> x, y;

  std::int64_t steps() const { return static_cast<std::int64_t>(x.size()); }

  /// The sum over t of factor(x_t, y_t) at a point.
  template <class Factor>
  double sum(std::int64_t point, Factor&& factor) const {
    double total = 0;
    const auto i = static_cast<std::size_t>(point);
    for (std::size_t t = 0; t < x.size(); ++t) total += factor(x[t][i], y[t][i]);
    return total;
  }
  double gradient(std::int64_t point) const {
    return sum(point, [](double a, double b) { return a * b; });
  }
  double variance(std::int64_t point, anadrome_sketch_kind kind, std::int64_t arrays) const {
    const double xx = sum(point, [](double a, double) { return a * a; });
    const double yy = sum(point, [](double, double b) { return b * b; });
    const double xxyy = sum(point, [](double a, double b) { return a * a * b * b; });
    const double xy = gradient(point), p = static_cast<double>(arrays);
    if (kind == ANADROME_SKETCH_EXACT) return 0;
    if (kind == ANADROME_SKETCH_ROWS) return (static_cast<double>(steps()) * xxyy - xy * xy) / p;
    return (xx * yy + xy * xy - 2 * xxyy) / p;
  }
};

/// Numbers without a pattern, the same at every call.
inline Correlation some_correlation(std::int64_t steps, std::int64_t points) {
  Correlation made{points, {}, {}};
  std::uint32_t state = 12345;
  const auto number = [&state] {
    state = state * 1664525u + 1013904223u;
    return static_cast<double>(state >> 8) / (1 << 23) - 0.8;
  };
  for (std::int64_t t = 0; t < steps; ++t) {
    for (auto* rows : {&made.x, &made.y}) {
      rows->emplace_back();
      for (std::int64_t i = 0; i < points; ++i) rows->back().push_back(number());
    }
  }
  return made;
}

struct Outcome {
  std::vector<double> gradient, variance;
};

/// What a sketch makes of it: forward from step 0, and back.
inline Outcome sketch_of(const Correlation& of, std::int64_t arrays, anadrome_sketch_kind kind,
                         const Draws& draws) {
  Sketch<double> sketch({of.points, arrays, kind}, draws);
  const std::int64_t steps = of.steps();
  for (std::int64_t t = 0; t < steps; ++t) sketch.push(t, of.x[static_cast<std::size_t>(t)].data());
  for (std::int64_t t = steps; t-- > 0;) {
    sketch.correlate(t, of.y[static_cast<std::size_t>(t)].data());
  }
  const auto points = static_cast<std::size_t>(of.points);
  Outcome out{std::vector<double>(points), std::vector<double>(points)};
  sketch.gradient(out.gradient.data());
  sketch.variance(out.variance.data());
  return out;
}

}  // namespace anadrome::sketch

// SPDX-License-Identifier: BSD-2-Clause
// The random numbers of a sketch. Each is a function of the seed, the step and the array alone:
// every rank has the same, in any order. Tests put others in their place and go through all of
// them.
#pragma once

#include <cstdint>
#include <functional>

#include <anadrome/sketch.h>

namespace anadrome::sketch {

struct Draws {
  /// count: the array that gets a step, below `arrays`.
  std::function<std::int64_t(std::int64_t step, std::int64_t arrays)> bucket;
  /// count: its sign there.
  std::function<double(std::int64_t step)> sign;
  /// rows: an array keeps the step whose ticket for it is the least.
  std::function<std::uint64_t(std::int64_t step, std::int64_t array)> ticket;
  /// count: what a step is noted with for the variance: mean 0, variance 1. 0: not.
  std::function<double(std::int64_t step)> note;
};

Draws draw(std::int64_t seed);

}  // namespace anadrome::sketch

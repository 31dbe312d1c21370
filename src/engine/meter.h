// Measured times of the caller's steps: what next() sees between handing out an action and being
// called again.
#pragma once

#include <cstdint>

namespace anadrome::engine {

/// A running mean that follows a drift.
class Meter {
 public:
  void add(double seconds, std::int64_t steps) {
    if (steps <= 0) return;
    const double sample = seconds / static_cast<double>(steps);
    ++samples_;
    // The first sample touches memory for the first time; it counts only until there is a second.
    constexpr double kWeight = 0.2;
    mean_ = samples_ <= 2 ? sample : mean_ + kWeight * (sample - mean_);
  }
  double seconds() const { return mean_; }

 private:
  double mean_ = 0;
  std::int64_t samples_ = 0;
};

}  // namespace anadrome::engine

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

/// Chooses which of many events to time: every one that is long or may be, and one of kOneOf where
/// reading the clock would take as long as the event.
class Sampler {
 public:
  static constexpr std::int64_t kOneOf = 64;
  static constexpr double kShort = 20e-6;

  /// Is the event that comes now to be timed? `expected`: seconds, 0 if not known. It then stands
  /// for weight() events.
  bool due(double expected) {
    weight_ = 1;
    if (expected >= kShort || expected <= 0) return true;
    weight_ = kOneOf;
    if (left_-- > 0) return false;
    left_ = kOneOf - 1;
    return true;
  }
  double weight() const { return static_cast<double>(weight_); }

 private:
  std::int64_t left_ = 0;
  std::int64_t weight_ = 1;
};

}  // namespace anadrome::engine

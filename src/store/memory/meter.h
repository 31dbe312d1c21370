// SPDX-License-Identifier: BSD-2-Clause
// Measured times: of the caller's steps, of copies and of transfers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/index.h"

namespace anadrome::store {

/// The mean of the first samples, and then one that follows a drift.
class Meter {
 public:
  void add(double seconds, std::int64_t steps) {
    if (steps <= 0) return;
    double sample = seconds / real(steps);
    // One that was interrupted says little; a change that lasts is followed all the same.
    constexpr double kOutlier = 8;
    if (samples_ > 4) sample = std::min(sample, kOutlier * mean_);
    ++samples_;
    // The first sample touches memory for the first time; it counts only until there is a second.
    const double others = real(samples_ - 1);
    const double weight = samples_ <= 2 ? 1 : std::max(kLeastWeight, 1 / others);
    mean_ += weight * (sample - mean_);
  }
  double seconds() const { return mean_; }
  std::int64_t samples() const { return samples_; }

 private:
  static constexpr double kLeastWeight = 0.05;
  double mean_ = 0;
  std::int64_t samples_ = 0;
};

/// The median of the newest samples: it follows a drifting file system within a few transfers, and
/// forgets a hiccup as fast.
class RecentMedian {
 public:
  void add(double seconds, std::int64_t states) {
    if (states <= 0) return;
    newest_[added_++ % newest_.size()] = seconds / real(states);
  }
  double seconds() const {
    auto sorted = newest_;
    const auto samples = std::span(sorted).first(std::min(added_, sorted.size()));
    if (samples.empty()) return 0;
    const auto middle = samples.begin() + (std::ssize(samples) - 1) / 2;
    std::nth_element(samples.begin(), middle, samples.end());
    return *middle;
  }

 private:
  std::array<double, 5> newest_ = {};
  std::size_t added_ = 0;
};

/// Measured seconds per state; 0: none yet.
struct TransferTimes {
  RecentMedian write, read;
  Meter write_processor, read_processor;
  Meter write_start, read_start;  ///< the caller's, who may have to make way for the I/O thread
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
  /// The seconds that an event of so many stands for.
  double stands_for(double seconds) const {
    return weight_ > 1 ? std::min(seconds, kShort) * real(weight_) : seconds;
  }

 private:
  std::int64_t left_ = 0;
  std::int64_t weight_ = 1;
};

}  // namespace anadrome::store

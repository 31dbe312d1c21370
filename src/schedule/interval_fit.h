// SPDX-License-Identifier: BSD-2-Clause
// What steps and transfers take together, told apart. A sweep in which a transfer is always under
// way cannot know a slow step from one that the transfer slows; intervals of two lengths can:
// seconds per step = step + transfer * (transfers per step).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace anadrome::schedule {

class IntervalFit {
 public:
  /// So many are compared, the newest ones: of one length and, in the middle of them, of another. A
  /// machine that becomes faster or slower once makes no difference between the two.
  static constexpr std::int64_t kNewest = 6;

  /// Intervals of so many steps together, each with one of the `anchors`, took so many seconds,
  /// waiting not included. `transfers`: for how many there was time beside them.
  void add(double steps, double anchors, double transfers, double seconds);

  /// A sweep begins, and is told apart by itself. Until it is, what the sweep before found stays,
  /// but no longer: the next sweep may never have intervals of two lengths.
  void begin_anew() {
    if (!std::exchange(fresh_, false)) separates_ = false;
    compared_before_ = std::exchange(compared_, false);
    count_ = 0;
  }
  /// Were intervals of two lengths measured, in this sweep or the one before?
  bool compared() const { return compared_ || compared_before_; }

  /// Were intervals measured whose transfers per step differ enough, and is it sure that transfers
  /// slow the steps beside them?
  bool separates() const { return separates_; }
  /// Seconds of a step beside which no transfer runs. 0: not told apart yet.
  double step() const { return step_; }
  /// The seconds that a transfer adds to the steps beside it.
  double transfer() const { return transfer_; }

 private:
  struct Sample {
    double per_step = 0;  ///< seconds
    double transfers_per_step = 0;
    double steps = 0;
    std::int64_t length = 0;  ///< of the interval: in eighths of a doubling of the steps per anchor
  };
  /// Intervals of one length: the median, which a disturbance does not move. They are grouped by
  /// length, not by transfers per step: an interval that is slow by chance has time for more of its
  /// transfer, and would say that the transfer made it slow.
  struct Middle {
    double per_step = 0, transfers_per_step = 0, steps = 0;
    std::size_t count = 0;
  };
  /// Of both lengths together, relative to their middles: two or three intervals that happen to be
  /// alike say nothing about how much the machine disturbs them.
  struct Deviations;

  Middle middle(std::int64_t length, Deviations& deviations) const;
  static bool is_enough(const Middle& middle);
  void compare(const Middle& a, const Middle& b, Deviations& deviations);
  void fit();

  std::array<Sample, kNewest> newest_;
  std::size_t count_ = 0;  ///< of newest_, the oldest first
  bool separates_ = false;
  bool fresh_ = false;  ///< found in this sweep
  bool compared_ = false, compared_before_ = false;
  double step_ = 0, transfer_ = 0;
};

}  // namespace anadrome::schedule

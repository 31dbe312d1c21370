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
  /// Intervals of so many steps together, each with one of the `anchors`, took so many seconds,
  /// waiting not included. `transfers`: for how many there was time beside them.
  void add(double steps, double anchors, double transfers, double seconds);

  /// A sweep begins, and is told apart by itself. Until it is, what the sweep before found stays,
  /// but no longer: the next sweep may never have intervals of two lengths.
  void begin_anew() {
    if (!std::exchange(fresh_, false)) separates_ = false;
    compared_before_ = std::exchange(compared_, false);
    groups_ = {};
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
    double error = 0;  ///< of a middle: its standard error where the deviation is 1
  };
  /// Intervals of about one length: the median of the newest ones, which a disturbance does not
  /// move. They are few, so that those after a trial are half of them: where the machine was slow
  /// until the trial, those before it make the trial's interval look fast. Not those of about as
  /// many transfers per step: an interval that is slow by chance has time for more of its transfer,
  /// and would say that the transfer made it slow.
  struct Group {
    static constexpr std::size_t kSamples = 4;
    std::array<Sample, kSamples> samples;
    std::int64_t added = 0;
    std::int64_t last_used = 0;
    std::int64_t length = 0;  ///< in eighths of a doubling of the steps per anchor
    std::size_t size() const {
      return static_cast<std::size_t>(std::min<std::int64_t>(added, kSamples));
    }
  };
  static constexpr std::size_t kGroups = 8;

  Group& group_of(double steps_per_anchor);
  static bool is_enough(const Group& group);
  /// Of all groups together, relative to their middles: two or three intervals that happen to be
  /// alike say nothing about how much the machine disturbs them.
  struct Deviations {
    std::array<double, kGroups * Group::kSamples> values;
    std::size_t count = 0;
    void add(double value) { values[count++] = value; }
    double median();
  };
  static Sample middle(const Group& group, Deviations& deviations);
  void fit();

  std::array<Group, kGroups> groups_;
  std::int64_t clock_ = 0;
  bool separates_ = false;
  bool fresh_ = false;  ///< found in this sweep
  bool compared_ = false, compared_before_ = false;
  double step_ = 0, transfer_ = 0;
};

}  // namespace anadrome::schedule

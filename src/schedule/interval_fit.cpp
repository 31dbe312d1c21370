// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/interval_fit.h"

#include <cmath>
#include <span>

namespace anadrome::schedule {

struct IntervalFit::Deviations {
  std::array<double, kNewest> values;
  std::size_t count = 0;
  void add(double value) { values[count++] = value; }
  double median() {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::nth_element(values.begin(), middle, values.begin() + static_cast<std::ptrdiff_t>(count));
    return *middle;
  }
};

void IntervalFit::add(double steps, double anchors, double transfers, double seconds) {
  if (!(steps > 0) || !(anchors > 0) || !(transfers > 0) || !(seconds > 0)) return;
  constexpr double kPerDoubling = 8;
  const auto length = std::llround(kPerDoubling * std::log2(steps / anchors));
  if (count_ == kNewest) {
    std::shift_left(newest_.begin(), newest_.end(), 1);
    --count_;
  }
  newest_[count_++] = {seconds / steps, transfers / steps, steps, length};
  fit();
}

IntervalFit::Middle IntervalFit::middle(std::int64_t length, Deviations& deviations) const {
  std::array<Sample, kNewest> alike;
  const auto end = std::copy_if(newest_.begin(), newest_.begin() + count_, alike.begin(),
                                [&](const Sample& sample) { return sample.length == length; });
  const auto samples = std::span(alike.begin(), end);
  const auto middle_one = samples.begin() + (std::ssize(samples) - 1) / 2;  // disturbances lengthen
  std::nth_element(samples.begin(), middle_one, samples.end(),
                   [](const Sample& a, const Sample& b) { return a.per_step < b.per_step; });
  Middle middle = {.per_step = middle_one->per_step, .count = samples.size()};
  double transfers = 0;
  for (const Sample& sample : samples) {
    middle.steps += sample.steps;
    transfers += sample.steps * sample.transfers_per_step;
    const bool is_middle = &sample == &*middle_one;
    if (!is_middle) deviations.add(std::abs(sample.per_step / middle.per_step - 1));
  }
  middle.transfers_per_step = transfers / middle.steps;
  return middle;
}

// The newest interval's length is compared with another one, if as many intervals of it lie before
// those of the other as after them.
void IntervalFit::fit() {
  const std::int64_t length = newest_[count_ - 1].length;
  Deviations deviations;
  const Middle around = middle(length, deviations);
  if (!is_enough(around)) return;
  const auto is_other = [&](const Sample& sample) { return sample.length != length; };
  const std::span<const Sample> samples(newest_.data(), count_);
  const auto other = std::find_if(samples.begin(), samples.end(), is_other);
  const auto after = std::find_if(samples.rbegin(), samples.rend(), is_other) - samples.rbegin();
  const bool in_the_middle = other != samples.end() && other - samples.begin() == after;
  if (in_the_middle) compare(around, middle(other->length, deviations), deviations);
  // A transfer takes what it took when it was told apart; the step follows the machine. No step is
  // so much faster alone: steps and transfers share cores and memory, no more.
  constexpr double kLeast = 0.25;
  if (separates_) {
    step_ =
        std::max(around.per_step - transfer_ * around.transfers_per_step, kLeast * around.per_step);
  }
}

// One interval says nothing: it may be the one that was disturbed.
bool IntervalFit::is_enough(const Middle& middle) {
  constexpr double kFewSteps = 4;
  return middle.count >= 2 && middle.steps >= kFewSteps;
}

void IntervalFit::compare(const Middle& a, const Middle& b, Deviations& deviations) {
  constexpr double kApart = 1.5;
  const double more = std::max(a.transfers_per_step, b.transfers_per_step);
  const double fewer = std::min(a.transfers_per_step, b.transfers_per_step);
  if (a.count + b.count < count_ || !is_enough(b) || more < kApart * fewer) return;
  compared_ = true;
  const double apart = a.transfers_per_step - b.transfers_per_step;
  const double transfer = (a.per_step - b.per_step) / apart;
  // Of a median, from the median deviation, where errors are normal.
  constexpr double kOfMedian = 1.25 * 1.48;
  const auto variance = [](const Middle& middle) {
    return middle.per_step * middle.per_step / static_cast<double>(middle.count);
  };
  const double error =
      kOfMedian * deviations.median() * std::sqrt(variance(a) + variance(b)) / std::abs(apart);
  // Between long intervals a little noise looks like much: what is not sure is left out.
  constexpr double kSure = 3;
  if (transfer <= 0 || transfer < kSure * error) {
    if (std::exchange(fresh_, false)) separates_ = false;  // it was noise, too
    return;
  }
  separates_ = fresh_ = true;
  transfer_ = transfer - error;
}

}  // namespace anadrome::schedule

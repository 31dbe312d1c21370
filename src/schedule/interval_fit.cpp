// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/interval_fit.h"

#include <cmath>
#include <span>

namespace anadrome::schedule {

IntervalFit::Group& IntervalFit::group_of(double steps_per_anchor) {
  constexpr double kPerDoubling = 8;
  const auto length = std::llround(kPerDoubling * std::log2(steps_per_anchor));
  const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) {
    return group.added > 0 && group.length == length;
  });
  if (found != groups_.end()) return *found;
  const auto oldest =
      std::min_element(groups_.begin(), groups_.end(),
                       [](const Group& a, const Group& b) { return a.last_used < b.last_used; });
  *oldest = {};
  oldest->length = length;
  return *oldest;
}

void IntervalFit::add(double steps, double anchors, double transfers, double seconds) {
  if (!(steps > 0) || !(anchors > 0) || !(transfers > 0) || !(seconds > 0)) return;
  Group& group = group_of(steps / anchors);
  group.samples[static_cast<std::size_t>(group.added) % Group::kSamples] = {
      seconds / steps, transfers / steps, steps};
  ++group.added;
  group.last_used = ++clock_;
  fit();
}

// One interval says nothing: it may be the one that was disturbed.
bool IntervalFit::is_enough(const Group& group) {
  constexpr double kFewSteps = 4;
  double steps = 0;
  for (std::size_t i = 0; i < group.size(); ++i) steps += group.samples[i].steps;
  return group.size() >= 2 && steps >= kFewSteps;
}

IntervalFit::Sample IntervalFit::middle(const Group& group, Deviations& deviations) {
  std::array<Sample, Group::kSamples> sorted = group.samples;
  const auto samples = std::span(sorted).first(group.size());
  const auto middle_one = samples.begin() + (std::ssize(samples) - 1) / 2;  // disturbances lengthen
  std::nth_element(samples.begin(), middle_one, samples.end(),
                   [](const Sample& a, const Sample& b) { return a.per_step < b.per_step; });
  Sample middle = {.per_step = middle_one->per_step};
  double transfers = 0;
  for (const Sample& sample : samples) {
    middle.steps += sample.steps;
    transfers += sample.steps * sample.transfers_per_step;
    const bool is_middle = &sample == &*middle_one;
    if (!is_middle) deviations.add(std::abs(sample.per_step / middle.per_step - 1));
  }
  middle.transfers_per_step = transfers / middle.steps;
  middle.error = middle.per_step / std::sqrt(static_cast<double>(samples.size()));
  return middle;
}

double IntervalFit::Deviations::median() {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(values.begin(), middle, values.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

// Least squares over the groups, weighted by their steps.
void IntervalFit::fit() {
  constexpr double kMostWeight = 64, kApart = 1.5;
  double weights = 0, mean_x = 0, mean_y = 0;
  double fewest = 0, most = 0;
  Deviations deviations;
  std::array<Sample, kGroups> middles;
  std::size_t count = 0;
  for (const Group& group : groups_) {
    if (group.added == 0 || !is_enough(group)) continue;
    Sample sample = middle(group, deviations);
    sample.steps = std::min(sample.steps, kMostWeight);
    weights += sample.steps;
    mean_x += sample.steps * sample.transfers_per_step;
    mean_y += sample.steps * sample.per_step;
    fewest = count == 0 ? sample.transfers_per_step : std::min(fewest, sample.transfers_per_step);
    most = std::max(most, sample.transfers_per_step);
    middles[count++] = sample;
  }
  if (count < 2 || most < kApart * fewest) return;
  compared_ = true;
  mean_x /= weights;
  mean_y /= weights;
  double xx = 0, xy = 0, variance = 0;
  for (const Sample& sample : std::span(middles).first(count)) {
    const double x = sample.steps * (sample.transfers_per_step - mean_x);
    xx += x * (sample.transfers_per_step - mean_x);
    xy += x * (sample.per_step - mean_y);
    variance += x * x * sample.error * sample.error;
  }
  // Of a median, from the median deviation, where errors are normal.
  constexpr double kOfMedian = 1.25 * 1.48;
  const double error = kOfMedian * deviations.median() * std::sqrt(variance) / xx;
  // Between long intervals a little noise looks like much: what is not sure is left out.
  constexpr double kSure = 3;
  if (xy / xx < kSure * error) {
    if (std::exchange(fresh_, false)) separates_ = false;  // it was noise, too
    return;
  }
  separates_ = fresh_ = true;
  // No step is so much faster alone: steps and transfers share cores and memory, no more.
  constexpr double kLeast = 0.25;
  transfer_ = std::min(xy / xx - error, (1 - kLeast) * mean_y / mean_x);
  step_ = mean_y - transfer_ * mean_x;
}

}  // namespace anadrome::schedule

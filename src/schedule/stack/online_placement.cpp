// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/online_placement.h"

#include <algorithm>
#include <numeric>

#include "base/index.h"

namespace anadrome::schedule {

void OnlinePlacement::reserve(std::int64_t slots) {
  const auto count = size(slots);
  steps_.reserve(count);
  order_.reserve(count);
  before_.reserve(size(std::min(slots + 1, few_slots_)));  // begin may give fewer
  if (slots < few_slots_) return;
  levels_.reserve(count);
  essential_.reserve(count);
  dispensable_.reserve(count);
}

void OnlinePlacement::begin(std::int64_t first, std::int64_t slots) {
  rule_ = Rule::kEvery;
  first_ = first;
  slots_ = slots;
  steps_.clear();
  order_.clear();
  oldest_ = in_ring_ = 0;
  distance_ = slots + 1;
  stays_ = first + distance_;
}

void OnlinePlacement::add(std::int64_t step) {
  order_.push_back(std::ssize(steps_));
  steps_.push_back(step);
  ++in_ring_;
}

std::int64_t OnlinePlacement::replace(std::int64_t step) {
  if (steps_.empty()) return -1;
  if (rule_ == Rule::kEvery) {
    const auto s = wide(slots_);
    if (wide(step - first_) < (s + 1) * (s + 2) / 2) return replace_oldest(step);
    order_.resize(steps_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(),
              [this](std::int64_t a, std::int64_t b) { return steps_[at(a)] < steps_[at(b)]; });
    if (slots_ <= few_slots_) {
      rule_ = Rule::kCheapest;
      weigh();
    } else {
      rule_ = Rule::kLevels;
      start_levels();
    }
  }
  return rule_ == Rule::kCheapest ? replace_if_cheaper(step) : replace_by_level(step);
}

// Two repetitions are optimal if no stretch behind the j-th kept state is longer than s - j + 1,
// and no slot is left unused. So every state is kept at first and they are given up from the front,
// but for those at s + 1, s + 1 + s, ..., where such stretches end.
std::int64_t OnlinePlacement::replace_oldest(std::int64_t step) {
  for (; in_ring_ > 0; --in_ring_) {
    const std::int64_t place = order_[oldest_];
    oldest_ = oldest_ + 1 == order_.size() ? 0 : oldest_ + 1;
    std::int64_t& kept = steps_[at(place)];
    if (kept == stays_) {
      stays_ += --distance_;
      continue;
    }
    const std::size_t end = oldest_ + in_ring_ - 1;
    order_[end < order_.size() ? end : end - order_.size()] = place;
    kept = step;
    return place;
  }
  return -1;
}

// ---- what a reversal costs ----

std::int64_t OnlinePlacement::step_at(std::int64_t rank) const {
  if (rank == 0) return first_;
  return steps_[at(order_[at(rank - 1)])];
}

// The stretch behind the state of rank j is reversed with slots_ - j slots. Without the state of
// rank i the stretches beyond it have one more.
void OnlinePlacement::weigh() {
  const std::int64_t newest = slots_ - 1;
  before_.assign(size(slots_), 0);
  for (std::int64_t j = 0; j < newest; ++j) {
    const auto rank = size(j);
    before_[rank + 1] = before_[rank] + splitter_.advances(step_at(j + 1) - step_at(j), slots_ - j);
  }
  cheapest_ = 0;
  uint128 beyond = 0;
  for (std::int64_t i = newest - 1; i >= 1; --i) {
    const std::int64_t next = step_at(i + 1), previous = step_at(i - 1);
    const uint128 cost =
        before_[at(i - 1)] + splitter_.advances(next - previous, slots_ - i + 1) + beyond;
    if (cheapest_ == 0 || cost < cost_without_cheapest_) {
      cheapest_ = i;
      cost_without_cheapest_ = cost;
    }
    beyond += splitter_.advances(next - step_at(i), slots_ - i + 1);
  }
}

// If the end came one step later.
std::int64_t OnlinePlacement::replace_if_cheaper(std::int64_t step) {
  const std::int64_t newest = slots_ - 1;
  const auto rank = size(newest);
  const std::int64_t since = step - step_at(newest);
  uint128 least = before_[rank] + splitter_.advances(since + 1, 1);
  std::int64_t given_up = 0;
  const uint128 without_newest =
      before_[rank - 1] + splitter_.advances(step - step_at(newest - 1), 2);
  if (without_newest < least) {
    least = without_newest;
    given_up = newest;
  }
  if (cheapest_ > 0 && cost_without_cheapest_ + splitter_.advances(since, 2) < least) {
    given_up = cheapest_;
  }
  if (given_up == 0) return -1;
  const auto position = order_.begin() + given_up - 1;
  const std::int64_t place = *position;
  order_.erase(position);
  order_.push_back(place);
  steps_[at(place)] = step;
  weigh();
  return place;
}

// ---- levels ----

void OnlinePlacement::start_levels() {
  levels_.assign(steps_.size(), 1);
  essential_ = order_;
  dispensable_.clear();
}

// A new state has level 0 and takes the place of one that a later one of a higher level made
// dispensable, of the newest of these, which is a little cheaper than the oldest. If there is none
// it takes the place of the newest state and gets the level above.
std::int64_t OnlinePlacement::replace_by_level(std::int64_t step) {
  std::int64_t place;
  std::int32_t level = 0;
  if (!dispensable_.empty()) {
    place = dispensable_.back();
    dispensable_.pop_back();
  } else {
    place = essential_.back();
    level = levels_[at(place)] + 1;
    essential_.pop_back();
  }
  levels_[at(place)] = level;
  steps_[at(place)] = step;
  // Only a level that rises makes others dispensable, and it rises when none is left.
  const auto lower =
      std::partition_point(essential_.begin(), essential_.end(),
                           [this, level](std::int64_t e) { return levels_[at(e)] >= level; });
  dispensable_.insert(dispensable_.end(), lower, essential_.end());
  essential_.erase(lower, essential_.end());
  essential_.push_back(place);
  return place;
}

}  // namespace anadrome::schedule

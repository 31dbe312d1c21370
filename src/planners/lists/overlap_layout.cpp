// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlap_layout.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/index.h"

namespace anadrome::schedule {
namespace {

// Tables of longer intervals take their square in time.
constexpr std::int64_t kMostInterval = 4096;

// 1, 2, 3, ... and from some point on every so many per cent.
std::vector<std::int64_t> sizes_up_to(std::int64_t most) {
  constexpr std::int64_t kEvery = 64;
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= most; size += std::max<std::int64_t>(1, size / kEvery))
    sizes.push_back(size);
  return sizes;
}

}  // namespace

std::vector<std::int64_t> AnchorLayout::lengths() const {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0, longer_ones = 0; i < intervals; ++i) {
    const bool is_longer = (i + 1) * longer_count / intervals > longer_ones;
    lengths.push_back(is_longer ? longer : shorter);
    longer_ones += is_longer ? 1 : 0;
  }
  lengths.push_back(tail);
  return lengths;
}

LayoutSearch::LayoutSearch(std::int64_t steps, std::int64_t slots, const OverlapTimes& times)
    : steps_(steps), times_(times), table_(std::min(steps, kMostInterval), slots, times) {
  interval_.resize(at(table_.most_steps()) + 1);
  tail_.resize(interval_.size());
  for (std::int64_t l = 1; l <= table_.most_steps(); ++l) {
    interval_[at(l)] = table_.duration(l, IntervalOnDisk::kPreviousAndBase);
    tail_[at(l)] = table_.duration(l, IntervalOnDisk::kOnlyPrevious);
  }
  find_hull();
}

void LayoutSearch::find_hull() {
  hull_.clear();
  for (std::int64_t l = 1; l <= table_.most_steps(); ++l) {
    while (hull_.size() >= 2) {
      const std::int64_t a = hull_[hull_.size() - 2], b = hull_.back();
      const double on_line =
          interval_[at(a)] + (interval_[at(l)] - interval_[at(a)]) * real(b - a) / real(l - a);
      if (interval_[at(b)] < on_line) break;
      hull_.pop_back();
    }
    hull_.push_back(l);
  }
}

// So many intervals of the lengths of the hull on both sides of their mean. The first sweep is no
// faster than the writes, but for those that still wait at its end.
AnchorLayout LayoutSearch::layout(std::int64_t intervals, std::int64_t tail,
                                  std::int64_t waiting) const {
  AnchorLayout layout;
  layout.intervals = intervals;
  layout.tail = tail;
  const std::int64_t before = steps_ - tail;
  if (intervals == 0) {
    layout.expected = table_.duration(steps_, IntervalOnDisk::kNothing);
    return layout;
  }
  const auto above = std::partition_point(hull_.begin(), hull_.end(),
                                          [&](std::int64_t l) { return l * intervals < before; });
  layout.longer = *above;
  layout.shorter = above == hull_.begin() ? *above : *(above - 1);
  // Where the two do not add up, lengths next to each other do.
  const std::int64_t apart = layout.longer - layout.shorter;
  const std::int64_t missing = before - layout.shorter * intervals;
  if (apart == 0 || missing % apart != 0) {
    layout.shorter = before / intervals;
    layout.longer = layout.shorter + 1;
    layout.longer_count = before % intervals;
    if (layout.longer_count == 0) layout.longer = layout.shorter;
  } else {
    layout.longer_count = missing / apart;
  }
  const double on_the_way = real(before);
  const double written = real(intervals - waiting) * times_.write;
  layout.expected = std::max(on_the_way, written) + tail_[at(tail)] +
                    real(layout.longer_count) * interval_[at(layout.longer)] +
                    real(intervals - layout.longer_count) * interval_[at(layout.shorter)];
  return layout;
}

std::vector<AnchorLayout> LayoutSearch::best(std::size_t most, std::int64_t waiting) const {
  std::vector<AnchorLayout> layouts{layout(0, steps_, 0)};
  const std::int64_t longest = table_.most_steps();
  std::vector<std::int64_t> means = sizes_up_to(longest);
  const std::vector<std::int64_t> tails = means;
  means.insert(means.end(), hull_.begin(), hull_.end());
  if (times_.write >= 1 && times_.write <= real(longest))
    means.push_back(static_cast<std::int64_t>(std::ceil(times_.write)));
  std::sort(means.begin(), means.end());
  means.erase(std::unique(means.begin(), means.end()), means.end());
  const auto no_worse = [](const AnchorLayout& a, const AnchorLayout& b) {
    return a.expected < b.expected;
  };
  for (const std::int64_t tail : tails) {
    const std::int64_t before = steps_ - tail;
    std::int64_t last = 0;
    for (const std::int64_t mean : means) {
      for (const std::int64_t m : {(before + mean - 1) / mean, before / mean}) {
        if (m < 1 || m == last || m > before || (before + m - 1) / m > longest) continue;
        last = m;
        layouts.push_back(layout(m, tail, std::min(m, waiting)));
      }
    }
    if (layouts.size() > 64 * most) {
      std::nth_element(layouts.begin(), layouts.begin() + static_cast<std::ptrdiff_t>(most),
                       layouts.end(), no_worse);
      layouts.resize(most);
    }
  }
  std::stable_sort(layouts.begin(), layouts.end(), no_worse);
  if (layouts.size() > most) layouts.resize(most);
  return layouts;
}

void LayoutSearch::use_interval(std::int64_t steps, double duration, OverlapPiece piece) {
  interval_[at(steps)] = duration;
  interval_piece_[steps] = std::move(piece);
  find_hull();
}

void LayoutSearch::use_tail(std::int64_t steps, double duration, OverlapPiece piece) {
  tail_[at(steps)] = duration;
  tail_piece_[steps] = std::move(piece);
}

const OverlapPiece& LayoutSearch::piece(std::map<std::int64_t, OverlapPiece>& known,
                                        std::int64_t steps, IntervalOnDisk on_disk) const {
  const auto found = known.find(steps);
  if (found != known.end()) return found->second;
  return known.emplace(steps, table_.piece(steps, on_disk)).first->second;
}

void LayoutSearch::play(const std::vector<std::int64_t>& lengths, Timeline& timeline) {
  const bool alone = lengths.size() == 1;
  const OverlapPiece whole =
      alone ? table_.piece(steps_, IntervalOnDisk::kNothing) : OverlapPiece();
  timeline.play_intervals(lengths, [&](std::size_t i) -> const OverlapPiece& {
    if (alone) return whole;
    if (i + 1 == lengths.size())
      return piece(tail_piece_, lengths[i], IntervalOnDisk::kOnlyPrevious);
    return i > 0 ? piece(interval_piece_, lengths[i], IntervalOnDisk::kPreviousAndBase)
                 : piece(first_piece_, lengths[i], IntervalOnDisk::kBase);
  });
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlap_interval.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/index.h"
#include "schedule/stack/plain_planners.h"
#include "schedule/stack/stack_sweep.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

// A sweep turns at x_n, as one more step: here that is the adjoint of the last one.
void append_revolve(OverlapPiece& piece, std::int64_t first, std::int64_t last,
                    std::int64_t slots) {
  StackOptions options;
  options.steps = last - first - 1;
  options.units = std::max<std::int64_t>(slots, 1);
  options.x_0 = Place::kRam;
  StackSweep sweep(options, std::make_unique<RevolvePlanner>());
  const auto add = [&](OverlapKind kind, std::int64_t step, std::int64_t to = 0) {
    piece.push_back(
        {kind, static_cast<std::int32_t>(first + step), static_cast<std::int32_t>(first + to)});
  };
  std::vector<std::int64_t> kept{0};
  const auto adjoint = [&](std::int64_t step) {
    // Its slot is free while the adjoint runs.
    if (kept.back() == step) {
      add(OverlapKind::kDrop, step);
      kept.pop_back();
    }
    add(OverlapKind::kAdjoint, step);
  };
  for (std::int64_t left = last - first; left > 0;) {
    std::visit(Cases{[&](const Advance& run) { add(OverlapKind::kAdvance, run.first, run.last); },
                     [&](const Keep& keep) {
                       if (keep.step == 0) return;  // x_0 is here already
                       kept.push_back(keep.step);
                       add(OverlapKind::kKeep, keep.step);
                     },
                     [&](const Restore& from) { add(OverlapKind::kRestore, from.step); },
                     [&](const Turn& turn) { adjoint(turn.step), --left; },
                     [&](const Adjoint& next) { adjoint(next.step), --left; },
                     [](const auto&) {}},  // its slots are dropped above
               sweep.next());
  }
}

IntervalTable::IntervalTable(std::int64_t most_steps, std::int64_t slots, const OverlapTimes& times)
    : most_steps_(most_steps), slots_(slots), times_(times) {
  const std::size_t size = at(most_steps) + 1;
  for (auto* durations : {&all_slots_, &one_less_, &reading_, &reading_again_, &last_again_})
    durations->assign(size, 0);
  for (auto* splits : {&reading_split_, &reading_again_split_, &last_again_split_})
    splits->assign(size, 0);
  for (std::int64_t steps = 1; steps <= most_steps; ++steps) {
    all_slots_[at(steps)] = in_ram(steps, slots_);
    one_less_[at(steps)] = slots_ > 1 || steps == 1 ? in_ram(steps, slots_ - 1) : 0;
    fill(steps);
  }
}

double IntervalTable::in_ram(std::int64_t steps, std::int64_t slots) const {
  return static_cast<double>(extra_advances(steps, slots)) + real(steps) * times_.adjoint;
}

// The read begins when the base is all that is left in the slots of Revolve, with one slot less
// from there on; or after a further split, whose right part had all slots. O(steps).
void IntervalTable::fill(std::int64_t steps) {
  const std::size_t i = at(steps);
  // With one slot, all right parts are of one step, and the read begins with the last adjoint.
  const bool now = steps == 1 || slots_ > 1;
  reading_[i] = now ? std::max(times_.read, one_less_[i])
                    : real(steps - 1) + times_.adjoint + reading_[i - 1];
  reading_split_[i] = now ? 0 : static_cast<std::int32_t>(steps - 1);
  if (slots_ > 1) {
    for (std::int64_t j = 1; j < steps; ++j) {
      const double split = real(j) + one_less_[at(steps - j)] + reading_[at(j)];
      if (split >= reading_[i]) continue;
      reading_[i] = split;
      reading_split_[i] = static_cast<std::int32_t>(j);
    }
  }
  reading_again_[i] = reading_[i];
  last_again_[i] = all_slots_[i];
  for (std::int64_t j = 1; j < steps; ++j) {
    const double right = real(j) + reading_[at(steps - j)];
    if (right + reading_again_[at(j)] < reading_again_[i]) {
      reading_again_[i] = right + reading_again_[at(j)];
      reading_again_split_[i] = static_cast<std::int32_t>(j);
    }
    if (right + last_again_[at(j)] < last_again_[i]) {
      last_again_[i] = right + last_again_[at(j)];
      last_again_split_[i] = static_cast<std::int32_t>(j);
    }
  }
}

double IntervalTable::duration(std::int64_t steps, IntervalOnDisk on_disk) const {
  if (on_disk == IntervalOnDisk::kNothing) return in_ram(steps, slots_);
  const bool only_previous = on_disk == IntervalOnDisk::kOnlyPrevious;
  const bool has_previous = only_previous || on_disk == IntervalOnDisk::kPreviousAndBase;
  const auto& durations = only_previous ? reading_ : has_previous ? reading_again_ : last_again_;
  return durations[at(steps)];
}

// `base` is in a slot; `previous` is read.
void IntervalTable::append_reading(OverlapPiece& piece, std::int64_t base, std::int64_t steps,
                                   std::int32_t previous) const {
  const auto base32 = static_cast<std::int32_t>(base);
  while (reading_split_[at(steps)] > 0) {
    const std::int64_t j = reading_split_[at(steps)];
    const auto right = static_cast<std::int32_t>(base + j);
    piece.push_back({OverlapKind::kAdvance, base32, right});
    if (steps - j == 1) {
      piece.push_back({OverlapKind::kAdjoint, right, 0});
    } else {
      piece.push_back({OverlapKind::kKeep, right, 0});
      append_revolve(piece, base + j, base + steps, slots_ - 1);
    }
    piece.push_back({OverlapKind::kRestore, base32, 0});
    steps = j;
  }
  if (steps == 1) {
    piece.push_back({OverlapKind::kDrop, base32, 0});
    piece.push_back({OverlapKind::kRead, previous, 0});
    piece.push_back({OverlapKind::kAdjoint, base32, 0});
    return;
  }
  piece.push_back({OverlapKind::kRead, previous, 0});
  append_revolve(piece, base, base + steps, slots_ - 1);
}

OverlapPiece IntervalTable::piece(std::int64_t steps, IntervalOnDisk on_disk) const {
  OverlapPiece piece;
  const bool again =
      on_disk == IntervalOnDisk::kPreviousAndBase || on_disk == IntervalOnDisk::kBase;
  const auto& splits = on_disk == IntervalOnDisk::kBase ? last_again_split_ : reading_again_split_;
  while (again && splits[at(steps)] > 0) {
    const std::int64_t j = splits[at(steps)];
    const auto right = static_cast<std::int32_t>(j);
    piece.push_back({OverlapKind::kAdvance, 0, right});
    piece.push_back({OverlapKind::kDrop, 0, 0});
    piece.push_back({OverlapKind::kKeep, right, 0});
    append_reading(piece, j, steps - j, 0);
    piece.push_back({OverlapKind::kRestore, 0, 0});
    steps = j;
  }
  if (on_disk == IntervalOnDisk::kOnlyPrevious || on_disk == IntervalOnDisk::kPreviousAndBase) {
    append_reading(piece, 0, steps, kPrevious);
  } else {
    append_revolve(piece, 0, steps, slots_);
  }
  return piece;
}

// ---- layouts ----

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

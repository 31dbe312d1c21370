// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/interval_times.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

namespace anadrome::schedule {

int IntervalTimes::level_of(std::int64_t interval) {
  const double level =
      std::round(std::log2(static_cast<double>(std::max<std::int64_t>(interval, 1))));
  return std::min(static_cast<int>(level), kLevels - 1);
}

// An interval after a change of length has transfers of the length before beside it. A piece is so
// long that one that was interrupted does not look like a slow one, and not so long that a sweep
// has few; the more was seen, the less hurry there is.
void IntervalTimes::add(double steps, double anchors, double seconds, double waited) {
  constexpr double kFewSteps = 8, kFewAnchors = 2, kShort = 0.005, kShare = 128;
  if (!(steps > 0) || !(anchors > 0) || !(seconds > 0)) return;
  steps_ += steps;
  const int level = level_of(std::llround(steps / anchors));
  if (level != level_) {
    level_ = level;
    open_ = {};
    return;
  }
  open_.steps += steps;
  open_.anchors += anchors;
  open_.seconds += seconds;
  open_.computing += seconds - std::clamp(waited, 0.0, seconds);
  const bool whole = open_.steps >= std::max(kFewSteps, steps_ / kShare) &&
                     open_.anchors >= kFewAnchors && open_.seconds >= kShort;
  if (!whole) return;
  Level& here = levels_[static_cast<std::size_t>(level)];
  newest_ = level;
  here.last = ++pieces_;
  here.newest[here.count++ % here.newest.size()] = open_;
  open_ = {};
}

// Per step: the mean of the half in the middle, in which neither a moment of another program counts
// nor one without. Of a few pieces the middle one, of two the shorter: disturbances lengthen.
double IntervalTimes::middle(int level, double Piece::*what) const {
  const Level& here = at(level);
  std::array<double, std::tuple_size_v<decltype(here.newest)>> values{};
  const std::size_t count = std::min(here.count, values.size());
  for (std::size_t i = 0; i < count; ++i) values[i] = here.newest[i].*what / here.newest[i].steps;
  std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
  if (count < 4) return values[(count - 1) / 2];
  const std::size_t cut = count / 4;
  double sum = 0;
  for (const double value : std::span(values).subspan(cut, count - 2 * cut)) sum += value;
  return sum / static_cast<double>(count - 2 * cut);
}

double IntervalTimes::step() const {
  double least = 0;
  for (int level = 0; level < kLevels; ++level) {
    if (!knows(level)) continue;
    const double here = middle(level, &Piece::computing);
    if (least == 0 || here < least) least = here;
  }
  return least;
}

// Reads are taken to slow the steps as much as writes do, until their own time.
StepCosts IntervalTimes::costs(int level, StepCosts costs) const {
  if (!knows(level)) return costs;
  const double apart = static_cast<double>(interval(level));
  costs.forward = step();
  const auto taken = [&](double Piece::*what) {
    return std::max(middle(level, what) - costs.forward, 0.0) * apart;
  };
  costs.write_taken = taken(&Piece::seconds);
  costs.read_taken = std::min(taken(&Piece::computing), costs.read);
  return costs;
}

int IntervalTimes::best(const Levels& among, const Price& price, int otherwise) const {
  int best = otherwise;
  double least = 0;
  for (int level = among.least; level <= among.most; ++level) {
    if (!knows(level)) continue;
    const double here = price(level);
    if (least > 0 && here >= least) continue;
    least = here;
    best = level;
  }
  return best;
}

int IntervalTimes::next(const Levels& among, const Price& price, int now) const {
  constexpr std::int64_t kSoon = 4, kSeldom = 16;  // pieces; what is known of few may be chance
  const int best = this->best(among, price, std::clamp(now, among.least, among.most));
  if (best != now) return best;
  for (const int neighbour : {best - 1, best + 1}) {
    if (neighbour < among.least || neighbour > among.most) continue;
    const auto seen = static_cast<std::int64_t>(at(neighbour).count);
    if (at(neighbour).last + std::min(kSoon * seen, kSeldom) < pieces_) return neighbour;
  }
  return best;
}

}  // namespace anadrome::schedule

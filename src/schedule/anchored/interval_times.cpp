// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/anchored/interval_times.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/index.h"

namespace anadrome::schedule {

int IntervalTimes::level_of(std::int64_t interval) {
  const double level = std::round(std::log2(real(std::max<std::int64_t>(interval, 1))));
  return std::min(static_cast<int>(level), kLevels - 1);
}

// A machine changes its speed, and the first steps touch memory for the first time. So lengths are
// compared by what they took lately, and by their newest piece if that is older.
bool IntervalTimes::counts(const Level& level, const Piece& piece) const {
  constexpr std::int64_t kLately = 24;
  return piece.number > std::min(pieces_ - kLately, level.last - 1);
}

// An interval after a change of length has transfers of the length before beside it. A piece is so
// long that one that was interrupted does not look like a slow one (a scheduler stops programs that
// use more than their share for a while, every tenth of a second), and not so long that a sweep has
// few; the more was seen, the less hurry there is.
void IntervalTimes::add(double steps, double anchors, double seconds, double waited) {
  constexpr double kFewSteps = 8, kFewAnchors = 2, kShare = 128;
  constexpr double kShort = 0.005, kLong = 0.1, kShareOfSeconds = 16;
  if (!(steps > 0) || !(anchors > 0) || !(seconds > 0)) return;
  steps_ += steps;
  seconds_ += seconds;
  const int level = level_of(std::llround(steps / anchors));
  const int before = std::exchange(level_, level);
  if (level != before) {
    open_ = {};
    if (before >= 0) return;
  }
  open_.steps += steps;
  open_.anchors += anchors;
  open_.seconds += seconds;
  open_.computing += seconds - std::clamp(waited, 0.0, seconds);
  const bool whole = open_.steps >= std::max(kFewSteps, steps_ / kShare) &&
                     open_.anchors >= kFewAnchors &&
                     open_.seconds >= std::clamp(seconds_ / kShareOfSeconds, kShort, kLong);
  if (!whole) return;
  Level& here = levels_[anadrome::at(level)];
  newest_ = level;
  here.last = open_.number = ++pieces_;
  here.newest[here.count++ % kNewest] = open_;
  open_ = {};
}

std::span<const IntervalTimes::Piece> IntervalTimes::pieces_of(const Level& level) {
  return std::span(level.newest).first(std::min(level.count, kNewest));
}

// Per step: the mean of the half in the middle, in which neither a moment of another program counts
// nor one without. Of a few pieces the middle one, of two the shorter: disturbances lengthen.
double IntervalTimes::middle(int level, double Piece::*what) const {
  const Level& here = at(level);
  std::array<double, kNewest> values;
  values.fill(HUGE_VAL);  // sorts behind
  std::size_t count = 0;
  for (const Piece& piece : pieces_of(here)) {
    if (counts(here, piece)) values[count++] = piece.*what / piece.steps;
  }
  std::sort(values.begin(), values.end());
  if (count < 4) return values[(count - 1) / 2];
  const std::size_t cut = count / 4;
  double sum = 0;
  for (const double value : std::span(values).subspan(cut, count - 2 * cut)) sum += value;
  return sum / static_cast<double>(count - 2 * cut);
}

// A transfer takes as much of one interval as of another, so a step of intervals of I steps takes
// f + c / I: f is where the line through what the levels took meets intervals without end, by its
// standard error more, and no more than where transfers slow steps least.
double IntervalTimes::step() const { return step(1); }

double IntervalTimes::step_at_least() const { return step(-1); }

double IntervalTimes::step(double errors) const {
  double pieces = 0, x = 0, y = 0, xx = 0, xy = 0, apart = 0, least = 0;
  int known = 0;
  for (int level = 0; level < kLevels; ++level) {
    if (!knows(level)) continue;
    const double here = middle(level, &Piece::computing);
    const double share = 1 / real(interval(level));
    double weight = 0;
    for (const Piece& piece : pieces_of(at(level))) {
      if (!counts(at(level), piece)) continue;
      const double off = std::min(piece.computing / piece.steps, 2 * here) - here;
      apart += off * off;
      ++weight;
    }
    pieces += weight;
    x += weight * share;
    y += weight * here;
    xx += weight * share * share;
    xy += weight * share * here;
    if (known++ == 0 || here < least) least = here;
  }
  if (known == 0) return fastest_;
  const double lowest = std::min(fastest_, least);
  if (known == 1) return lowest > 0 ? lowest : least;
  const double spread = xx - x * x / pieces, mean = x / pieces;
  const double slope = std::max((xy - mean * y) / spread, 0.0);
  const double error =
      pieces > known ? std::sqrt(apart / (pieces - known) * (1 / pieces + mean * mean / spread))
                     : least;
  return std::clamp(y / pieces - slope * mean + errors * error, lowest, least);
}

double IntervalTimes::sure_step() const {
  if (std::count_if(levels_.begin(), levels_.end(),
                    [](const Level& level) { return level.count > 0; }) != 1)
    return step();
  return middle(newest_, &Piece::computing);
}

// Reads are taken to slow the steps as much as writes do, until their own time.
StepCosts IntervalTimes::costs(int level, StepCosts costs) const {
  if (!knows(level)) return costs;
  const double apart = real(interval(level));
  costs.forward = step();
  const auto taken = [&](double Piece::*what) {
    return std::max(middle(level, what) - costs.forward, 0.0) * apart;
  };
  costs.write_taken = taken(&Piece::seconds);
  costs.read_taken = std::min(taken(&Piece::computing), costs.read);
  return costs;
}

int IntervalTimes::best(int least, const Price& price, int otherwise) const {
  int best = otherwise;
  double cheapest = 0;
  for (int level = least; level < kLevels; ++level) {
    if (!knows(level)) continue;
    const double here = price(level);
    if (cheapest > 0 && here >= cheapest) continue;
    cheapest = here;
    best = level;
  }
  return best;
}

// Whatever a longer one would cost, it shows what steps take with fewer transfers beside them:
// short ones look alike where each of their steps has one, and steps look dear.
int IntervalTimes::next(const Levels& among, const Price& price, const Price& at_least,
                        int now) const {
  constexpr std::int64_t kSoon = 4, kSeldom = 16;  // pieces; what is known of few may be chance
  const int best = this->best(among.least, price, std::max(now, among.least));
  if (best != now) return best;
  for (const int neighbour : {best - 1, best + 1}) {
    if (neighbour < among.least || (neighbour > best && neighbour > among.most)) continue;
    const auto seen = static_cast<std::int64_t>(at(neighbour).count);
    if (at(neighbour).last + std::min(kSoon * seen, kSeldom) >= pieces_) continue;
    const bool shows_steps = neighbour > best && at(best).count >= anadrome::at(kSoon);
    if (shows_steps || at_least(neighbour) < price(best)) return neighbour;
  }
  return best;
}

}  // namespace anadrome::schedule

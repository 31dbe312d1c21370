// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlapped.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"
#include "planners/lists/overlap_beam.h"
#include "planners/lists/overlap_interval.h"
#include "planners/lists/overlap_piece.h"
#include "schedule/anchored/interval.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

OverlappedPlan periodic_plan(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                             std::int64_t interval, bool read_ahead) {
  OverlappedPlan plan;
  Timeline timeline(slots, times, &plan.actions);
  const std::int64_t for_revolve = read_ahead ? slots - 1 : slots;
  const auto piece = [&](std::int64_t length, bool has_previous) {
    OverlapPiece moves;
    if (has_previous && read_ahead) moves.push_back({OverlapKind::kRead, kPrevious, 0});
    append_revolve(moves, 0, length, for_revolve);
    if (has_previous && !read_ahead) moves.push_back({OverlapKind::kRead, kPrevious, 0});
    return moves;
  };
  // A sweep has TURN as one more step; here that is the adjoint of the last one.
  const std::int64_t longest = longest_tail(interval, for_revolve, false) + 1;
  const std::int64_t intervals = steps > longest ? (steps - longest + interval - 1) / interval : 0;
  std::vector<std::int64_t> lengths(size(intervals), interval);
  lengths.push_back(steps - intervals * interval);
  const OverlapPiece tail = piece(lengths.back(), intervals > 0);
  const OverlapPiece within = intervals > 1 ? piece(interval, true) : OverlapPiece();
  const OverlapPiece first = intervals > 0 ? piece(interval, false) : OverlapPiece();
  timeline.play_intervals(lengths, [&](std::size_t i) -> const OverlapPiece& {
    return i + 1 == lengths.size() ? tail : i > 0 ? within : first;
  });
  plan.makespan = timeline.now();
  return plan;
}

std::vector<std::int64_t> periodic_intervals(std::int64_t steps, std::int64_t slots,
                                             const OverlapTimes& times, bool read_ahead) {
  StepCosts costs;
  costs.forward = times.forward;
  costs.adjoint = times.adjoint;
  costs.write = times.write;
  costs.read = times.read;
  const double published = std::ceil(times.write / times.forward);
  const auto longest = real(steps);
  return {static_cast<std::int64_t>(std::clamp(published, 1.0, longest)),
          best_interval(costs, read_ahead ? slots - 1 : slots, {true, read_ahead}, 1, steps)};
}

OverlappedPlan plan_on_small_disk(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                                  std::int64_t most_on_disk) {
  const std::int64_t anchors = std::min(most_on_disk, steps);
  OverlappedPlan best;
  for (const bool read_ahead : {false, true}) {
    if (read_ahead && slots == 1) continue;
    // Without room for an anchor an interval that has all steps: Revolve.
    std::vector<std::int64_t> intervals{anchors > 0 ? ceil_divide(steps, anchors) : steps};
    if (anchors > 0) {
      for (const std::int64_t interval : periodic_intervals(steps, slots, times, read_ahead)) {
        if (interval > intervals.front()) intervals.push_back(interval);
      }
    }
    for (const std::int64_t interval : intervals) {
      const OverlappedPlan plan = periodic_plan(steps, slots, times, interval, read_ahead);
      if (best.actions.empty() || plan.makespan < best.makespan) best = plan;
    }
  }
  return best;
}

namespace {

// Widths of beam searches: so much per step, and less where the square of the steps is what costs.
struct BeamWidth {
  std::int64_t per_step, effort;

  std::int64_t operator()(std::int64_t steps) const {
    constexpr std::int64_t kNarrowest = 8;
    return std::max(kNarrowest, std::min(per_step * steps, effort / (steps * steps)));
  }
};
constexpr BeamWidth kIntervalWidth{16, 36'000}, kTailWidth{3, 50'000};

class Planner {
 public:
  Planner(std::int64_t steps, std::int64_t slots, const OverlapTimes& times, OverlapSearch search)
      : steps_(steps),
        slots_(std::min(slots, steps)),
        thorough_(search == OverlapSearch::kThorough),
        steps_played_(thorough_ ? 3'000'000 : 100'000),
        seconds_(times),
        times_{1, times.adjoint / times.forward, times.write / times.forward,
               times.read / times.forward},
        layouts_(steps, slots_, times_),
        advances_(std::min(steps, kMostBeamSteps) + 1, std::min(slots_, kMostBeamSlots)) {}

  OverlappedPlan plan();

 private:
  using Layouts = std::vector<AnchorLayout>;

  void improve_pieces();
  bool improve_interval(std::int64_t steps);
  bool improve_tail(std::int64_t steps);
  bool beam_takes(std::int64_t steps) const {
    return thorough_ && steps <= kMostBeamSteps && slots_ <= kMostBeamSlots;
  }
  BeamResult search_tail(std::int64_t steps, bool has_previous, double most) const;
  void consider(const OverlappedPlan& plan);
  double time_of(const std::vector<std::int64_t>& lengths);
  std::vector<std::int64_t> best_lengths();
  bool move_anchors(std::vector<std::int64_t>& lengths, double& least, std::int64_t& left);

  std::int64_t steps_, slots_;
  bool thorough_;
  std::int64_t steps_played_;  ///< for layouts, and for changes to the best of them
  OverlapTimes seconds_, times_;
  LayoutSearch layouts_;
  AdvanceTable advances_;
  double future_ = 1;  ///< advances per step in the reverse sweep, as far as known
  std::set<std::int64_t> intervals_done_, tails_done_;
  OverlappedPlan best_;
};

bool Planner::improve_interval(std::int64_t steps) {
  if (steps < 2 || !beam_takes(steps) || !intervals_done_.insert(steps).second) return false;
  bool better = false;
  for (const double lesser : {0.0, 0.1}) {
    BeamOptions options{kIntervalWidth(steps), future_, lesser, layouts_.interval_duration(steps)};
    BeamResult found = beam_search({static_cast<std::int32_t>(steps), true, false}, slots_, times_,
                                   advances_, options);
    if (found.duration >= options.most) continue;
    layouts_.use_interval(steps, found.duration, std::move(found.piece));
    better = true;
  }
  return better;
}

// The states to keep in the first sweep depend on their worth in the rest: several guesses.
BeamResult Planner::search_tail(std::int64_t steps, bool has_previous, double most) const {
  constexpr double kKeepAll = 1e6;
  BeamResult best;
  best.duration = most;
  for (const double future : {future_, 2 * future_, kKeepAll}) {
    for (const double lesser : {0.0, 0.1}) {
      BeamOptions options{kTailWidth(steps), future, lesser, best.duration};
      BeamResult found = beam_search({static_cast<std::int32_t>(steps), has_previous, true}, slots_,
                                     times_, advances_, options);
      if (found.duration < best.duration) best = std::move(found);
    }
  }
  return best;
}

bool Planner::improve_tail(std::int64_t steps) {
  if (!beam_takes(steps) || !tails_done_.insert(steps).second) return false;
  const double most = layouts_.tail_duration(steps);
  BeamResult found = search_tail(steps, true, most);
  if (found.duration >= most) return false;
  layouts_.use_tail(steps, found.duration, std::move(found.piece));
  return true;
}

// Better pieces move the best layout, which asks for other pieces.
void Planner::improve_pieces() {
  constexpr int kRounds = 5;
  constexpr std::size_t kLooked = 64, kMostLengths = 4, kMostTails = 3;
  for (int round = 0; round < kRounds; ++round) {
    const Layouts layouts = layouts_.best(kLooked, 0);
    future_ = std::max(0.1, layouts.front().expected / real(steps_) - 1 - times_.adjoint);
    std::set<std::int64_t> lengths, tails;
    for (const AnchorLayout& layout : layouts) {
      if (layout.intervals == 0) continue;
      if (tails.size() < kMostTails) tails.insert(layout.tail);
      if (lengths.size() < kMostLengths) lengths.insert({layout.shorter, layout.longer});
    }
    bool better = false;
    for (const std::int64_t length : lengths) {
      for (const std::int64_t near : {length - 1, length, length + 1})
        better = improve_interval(std::min(near, steps_)) || better;
    }
    for (const std::int64_t tail : tails) better = improve_tail(tail) || better;
    if (!better) break;
  }
}

void Planner::consider(const OverlappedPlan& plan) {
  if (plan.makespan < best_.makespan) best_ = plan;
}

double Planner::time_of(const std::vector<std::int64_t>& lengths) {
  Timeline timeline(slots_, times_, nullptr);
  layouts_.play(lengths, timeline);
  return timeline.now();
}

// One change to the lengths that makes the plan faster, tried from both ends of the chain, where
// intervals want to be unlike those in its middle: the disk is not yet, or no longer, in step.
bool Planner::move_anchors(std::vector<std::int64_t>& lengths, double& least, std::int64_t& left) {
  constexpr std::size_t kEnds = 6;
  const auto try_lengths = [&](const std::vector<std::int64_t>& other) {
    if (left < steps_) return false;
    for (const std::int64_t length : other) {
      if (length < 1 || length > layouts_.longest()) return false;
    }
    left -= steps_;
    const double time = time_of(other);
    if (time >= least) return false;
    least = time;
    lengths = other;
    return true;
  };
  const std::size_t last = lengths.size() - 1;
  for (std::size_t k = 0; k <= last; ++k) {
    const std::size_t i = last - k;
    if (i > kEnds && k > kEnds) continue;
    std::vector<std::int64_t> other = lengths;
    for (const std::int64_t by : {1, -1, 2, -2, 5, -5}) {
      for (const std::size_t to : {i + 1, last}) {
        if (to > last || to <= i) continue;
        other = lengths;
        other[i] += by;
        other[to] -= by;
        if (try_lengths(other)) return true;
      }
    }
    if (i < last) {
      other = lengths;
      other[i + 1] += other[i];
      other.erase(other.begin() + static_cast<std::ptrdiff_t>(i));
      if (other.size() > 1 && try_lengths(other)) return true;
    }
    for (const std::int64_t part : {2, 3}) {
      const std::int64_t first = lengths[i] / part;
      if (first < 1) continue;
      other = lengths;
      other[i] -= first;
      other.insert(other.begin() + static_cast<std::ptrdiff_t>(i), first);
      if (try_lengths(other)) return true;
    }
  }
  return false;
}

// Few layouts of a long chain are tried: each is played.
std::vector<std::int64_t> Planner::best_lengths() {
  const auto most = size(std::clamp<std::int64_t>(steps_played_ / steps_, 3, 240));
  std::vector<std::int64_t> best{steps_};
  double least = time_of(best);
  const std::set<std::int64_t> guesses{0, std::min<std::int64_t>(1, slots_ - 1), slots_ - 1};
  for (const std::int64_t waiting : guesses) {
    for (const AnchorLayout& layout : layouts_.best(most / guesses.size(), waiting)) {
      std::vector<std::int64_t> lengths = layout.lengths();
      const double time = time_of(lengths);
      if (time >= least) continue;
      least = time;
      best = std::move(lengths);
    }
  }
  std::int64_t left = steps_played_;
  while (move_anchors(best, least, left)) {
  }
  return best;
}

OverlappedPlan Planner::plan() {
  const bool no_recomputation = extra_advances(steps_, slots_) == wide(steps_ - 1);
  if (!no_recomputation && thorough_) improve_pieces();
  Timeline timeline(slots_, seconds_, &best_.actions);
  layouts_.play(no_recomputation ? std::vector{steps_} : best_lengths(), timeline);
  best_.makespan = timeline.now();
  if (no_recomputation) return std::move(best_);
  for (const bool read_ahead : {false, true}) {
    if (read_ahead && slots_ == 1) continue;
    for (const std::int64_t interval : periodic_intervals(steps_, slots_, seconds_, read_ahead))
      consider(periodic_plan(steps_, slots_, seconds_, interval, read_ahead));
  }
  const bool least_possible =
      best_.makespan <= seconds_.forward * real(steps_ - 1) + seconds_.adjoint * real(steps_);
  if (!beam_takes(steps_) || least_possible) return std::move(best_);
  const double most = best_.makespan / seconds_.forward;
  BeamResult found = search_tail(steps_, false, most);
  if (found.duration >= most) return std::move(best_);
  OverlappedPlan whole;
  Timeline whole_timeline(slots_, seconds_, &whole.actions);
  whole_timeline.act(OverlapKind::kKeep, 0);
  whole_timeline.play(found.piece, 0, kPrevious);
  whole.makespan = whole_timeline.now();
  consider(whole);
  return std::move(best_);
}

bool sensible(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

}  // namespace

OverlappedPlan plan_overlapped(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                               OverlapSearch search) {
  if (steps < 0 || steps > kMostOverlappedSteps || slots < 1) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "an overlapped plan needs 0 <= steps <= " + std::to_string(kMostOverlappedSteps) +
                    " and at least one slot, not " + std::to_string(steps) + " steps and " +
                    std::to_string(slots) + " slots");
  }
  if (!sensible(times.forward) || !sensible(times.adjoint) || !sensible(times.write) ||
      !sensible(times.read) || times.forward <= 0) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "an overlapped plan needs finite times, none negative, and a forward step that "
                "takes some");
  }
  // Beyond this ratio a sum of times no longer tells them apart.
  constexpr double kMostRatio = 1e12;
  if (std::max({times.adjoint, times.write, times.read}) > kMostRatio * times.forward) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "an overlapped plan needs times of at most 1e12 forward steps");
  }
  if (steps == 0) return {};
  return Planner(steps, slots, times, search).plan();
}

}  // namespace anadrome::schedule

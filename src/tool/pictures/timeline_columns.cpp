// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/timeline_columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/index.h"

namespace anadrome::tool {
namespace {

// The greatest of the `kCount` smallest distances that are added.
class Nearest {
 public:
  Nearest() { distances_.fill(std::numeric_limits<double>::infinity()); }
  void add(double distance) {
    for (double& nearer : distances_) {
      if (distance < nearer) std::swap(distance, nearer);
    }
  }
  /// `otherwise` if fewer were added.
  double reach(double otherwise) const {
    return std::isfinite(distances_.back()) ? distances_.back() : otherwise;
  }

 private:
  static constexpr std::size_t kCount = 6;
  std::array<double, kCount> distances_;
};

void earlier(std::optional<double>& best, double start) {
  best = std::min(best.value_or(start), start);
}

bool moves(Activity activity) {
  return activity == Activity::kAdvance || activity == Activity::kRecompute ||
         activity == Activity::kAdjoint || activity == Activity::kVisit;
}

}  // namespace

void TimelineColumns::Range::include(double a, double b) {
  const auto [least, most] = std::minmax(a, b);
  low = empty() ? least : std::min(low, least);
  high = empty() ? most : std::max(high, most);
}

TimelineColumns::TimelineColumns(TimeWindow window, int columns)
    : window_(window),
      columns_(columns),
      shares_(size(columns) * kActivities),
      steps_(shares_.size()) {}

void TimelineColumns::add(const TraceEvent& event) {
  // In columns from here on.
  const double scale = columns_ / window_.seconds();
  const double start = (event.start - window_.start) * scale;
  const double end = (event.end - window_.start) * scale;
  if (!(end >= 0 && start < columns_)) return;
  const int first_column = static_cast<int>(std::max(start, 0.0));
  const int last_column = std::min(static_cast<int>(std::min<double>(end, columns_)), columns_ - 1);
  // An adjoint takes the solver from `last` down to `first`.
  const bool down = event.activity == Activity::kAdjoint;
  const auto from = real(down ? event.last : event.first);
  const auto to = real(down ? event.first : event.last);
  const double slope = end > start ? (to - from) / (end - start) : 0;
  // A transfer that is wide enough to be seen on its own gets sharp ends. In the solver's lane
  // other events fill the rest of the column.
  constexpr double kWide = 4;
  const bool wide =
      (lane_of(event.activity) == Lane::kIo || lane_of(event.activity) == Lane::kFastIo) &&
      end - start >= kWide;
  const double shown_start = wide ? std::round(start) : start;
  const double shown_end = wide ? std::round(end) : end;
  for (int column = first_column; column <= last_column; ++column) {
    shares_[at(column, event.activity)] += std::max(
        std::min<double>(shown_end, column + 1) - std::max<double>(shown_start, column), 0.0);
    const double left = std::max<double>(start, column);
    const double right = std::min<double>(end, column + 1);
    if (!moves(event.activity) || right < left) continue;
    const double until = right == end ? to : from + slope * (right - start);
    steps_[at(column, event.activity)].include(from + slope * (left - start), until);
  }
}

double TimelineColumns::share(int column, Activity activity) const {
  return shares_[at(column, activity)];
}

TimelineColumns::Range TimelineColumns::steps(int column, Activity activity) const {
  return steps_[at(column, activity)];
}

TimelineColumns::Range TimelineColumns::steps() const {
  Range all;
  for (const Range& range : steps_) {
    if (!range.empty()) all.include(range.low, range.high);
  }
  return all;
}

std::optional<double> turn_of(std::span<const TraceEvent> events) {
  std::optional<double> turn, adjoint;
  for (const TraceEvent& event : events) {
    if (event.activity == Activity::kTurn) earlier(turn, event.start);
    if (event.activity == Activity::kAdjoint) earlier(adjoint, event.start);
  }
  return turn.has_value() ? turn : adjoint;
}

std::optional<double> passes_of(std::span<const TraceEvent> events) {
  std::optional<double> first;
  for (const TraceEvent& event : events) {
    if (lane_of(event.activity) == Lane::kPasses) earlier(first, event.start);
  }
  return first;
}

std::optional<TimeWindow> window_around(double turn, std::span<const TraceEvent> events,
                                        double seconds) {
  Nearest writes, reads;
  for (const TraceEvent& event : events) {
    if (event.activity == Activity::kWrite && event.start <= turn) {
      writes.add(turn - event.start);
    } else if (event.activity == Activity::kRead && event.end >= turn) {
      reads.add(event.end - turn);
    }
  }
  constexpr double kLeastShare = 0.05, kMargin = 1.03, kMostShare = 0.4;
  const double least = seconds * kLeastShare / 2;
  const double before = writes.reach(least) * kMargin;
  const double after = reads.reach(least) * kMargin;
  const TimeWindow window = {std::max(turn - before, 0.0), std::min(turn + after, seconds)};
  if (!(window.seconds() >= 1e-9 && window.seconds() <= kMostShare * seconds)) return {};
  return window;
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// The activities of one rank in a window of time, by pixel column: the share of the column's time
// that each took, and where in the steps the solver was. Knows nothing of how it is drawn.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/index.h"
#include "engine/sweep/trace.h"

namespace anadrome::tool {

using engine::Activity;
using engine::index_of;
using engine::kActivities;
using engine::Lane;
using engine::lane_of;
using engine::TraceEvent;

struct TimeWindow {
  double start = 0, end = 0;
  double seconds() const { return end - start; }
};

class TimelineColumns {
 public:
  /// Steps the solver was at while it did one kind of thing.
  struct Range {
    double low = 0, high = -1;
    bool empty() const { return high < low; }
    void include(double a, double b);
  };

  TimelineColumns(TimeWindow window, int columns);

  void add(const TraceEvent& event);

  const TimeWindow& window() const { return window_; }
  int columns() const { return columns_; }
  /// 0 .. 1; more than 1 only where events overlapped. A transfer of four columns and more counts
  /// in whole columns.
  double share(int column, Activity activity) const;
  /// kAdvance, kRecompute, kAdjoint and kVisit have steps; the others have none.
  Range steps(int column, Activity activity) const;
  /// Over all columns and activities.
  Range steps() const;

 private:
  std::size_t at(int column, Activity activity) const {
    return size(column) * kActivities + index_of(activity);
  }

  TimeWindow window_;
  int columns_;
  std::vector<double> shares_;
  std::vector<Range> steps_;
};

/// When the forward sweep ended; nothing if it did not.
std::optional<double> turn_of(std::span<const TraceEvent> events);

/// When the first pass began; nothing if there was none.
std::optional<double> passes_of(std::span<const TraceEvent> events);

/// The time around `turn` that a person wants to see closely: the last 6 writes before it and the
/// first 6 reads after it; 5 % of `seconds` where there is less. Nothing if that is so much of
/// `seconds` that the whole sweep shows as much.
std::optional<TimeWindow> window_around(double turn, std::span<const TraceEvent> events,
                                        double seconds);

}  // namespace anadrome::tool

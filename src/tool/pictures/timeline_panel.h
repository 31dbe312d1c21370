// SPDX-License-Identifier: BSD-2-Clause
// One window of time as a piece of SVG: per rank a lane for the solver, one for I/O below it and,
// if there were any, one for a fast directory's I/O and one for passes; then the first rank's way
// through the steps, then the time axis.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tool/pictures/svg.h"
#include "tool/pictures/timeline_columns.h"

namespace anadrome::tool {

class TimelinePanel {
 public:
  /// `columns` pixels wide.
  TimelinePanel(TimeWindow window, int columns) : window_(window), columns_(columns) {}

  void add_rank(int rank, std::span<const TraceEvent> events);

  struct Style {
    double left = 0, top = 0;
    std::optional<double> turn;    ///< where the marker goes
    std::optional<double> passes;  ///< when the first one began
    bool times_from_turn = false;  ///< on the axis; otherwise from the sweep's start
    std::int64_t steps = -1;       ///< the step axis is 0 .. steps; < 0: as far as the solver went
  };
  void draw(Svg& svg, const Style& style) const;

  const TimeWindow& window() const { return window_; }
  /// The lanes and the plot, without captions above and the axis below.
  double height() const;
  /// Pixels from the panel's left.
  double x_of(double seconds) const;

  static constexpr double kAbove = 24, kBelow = 26;

 private:
  struct Rank {
    int number = 0;
    TimelineColumns columns;
  };
  void draw_captions(Svg& svg, const Style& style) const;
  void draw_lane(Svg& svg, const Rank& rank, Lane lane, double left, double top) const;
  void draw_steps(Svg& svg, const Style& style, double top) const;
  void draw_axis(Svg& svg, const Style& style) const;

  TimeWindow window_;
  int columns_;
  std::array<bool, engine::kLanes> has_ = {true, true};  ///< lanes
  std::vector<Rank> ranks_;
};

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// One window of time as a piece of SVG: per rank a lane for the solver, one for I/O below it and,
// if there were any, one for a fast directory's I/O and one for passes; then the first rank's way
// through the steps, what was held when, and the time axis.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tool/pictures/slot_lanes.h"
#include "tool/pictures/svg.h"
#include "tool/pictures/timeline_columns.h"

namespace anadrome::tool {

class TimelinePanel {
 public:
  struct Shape {
    int columns = 0;  ///< pixels wide
    double steps_height = 120;
    bool disk = true;        ///< there is a lane for I/O, even if there was none
    std::int64_t slots = 0;  ///< of RAM, with lanes of their own
  };
  TimelinePanel(TimeWindow window, const Shape& shape)
      : window_(window),
        shape_(shape),
        columns_(shape.columns),
        held_(window, shape.columns, shape.slots) {}

  void add_rank(std::string name, std::span<const TraceEvent> events = {});
  /// Of the rank that was added last.
  void add(const TraceEvent& event);
  void add(const questions::Held& held) { held_.add(held); }

  bool has(Activity activity) const { return seen_[index_of(activity)]; }

  struct Style {
    double left = 0, top = 0;
    std::optional<double> turn;    ///< where the marker goes
    std::optional<double> passes;  ///< when the first one began
    bool times_from_turn = false;  ///< on the axis; otherwise from the sweep's start
    std::int64_t steps = -1;       ///< the step axis is 0 .. steps; < 0: as far as the solver went
    std::string axis = "step";
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
    std::string name;
    TimelineColumns columns;
  };
  bool has(Lane lane) const;
  void draw_captions(Svg& svg, const Style& style) const;
  void draw_lane(Svg& svg, const Rank& rank, Lane lane, double left, double top) const;
  void draw_steps(Svg& svg, const Style& style, double top) const;
  void draw_axis(Svg& svg, const Style& style) const;

  TimeWindow window_;
  Shape shape_;
  int columns_;
  std::array<bool, kActivities> seen_ = {};
  SlotLanes held_;
  std::vector<Rank> ranks_;
};

}  // namespace anadrome::tool

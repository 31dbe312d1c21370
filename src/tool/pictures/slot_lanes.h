// SPDX-License-Identifier: BSD-2-Clause
// What was held when, as lanes below a plot over time: how many states were on disk, and which
// slots of RAM were in use.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/questions/simulate.h"
#include "tool/pictures/svg.h"
#include "tool/pictures/timeline_columns.h"

namespace anadrome::tool {

class SlotLanes {
 public:
  /// `slots` of RAM; 0: there are no lanes for them.
  SlotLanes(TimeWindow window, int columns, std::int64_t slots);

  void add(const questions::Held& held);

  double height() const;
  void draw(Svg& svg, double left, double top) const;

 private:
  /// How much of each pixel column something took.
  using Shares = std::vector<double>;

  void add_to(Shares& lane, const questions::Held& held, double weight) const;
  double lane_height() const;
  void draw_lane(Svg& svg, const Shares& lane, double left, double top) const;
  void draw_on_disk(Svg& svg, double left, double top) const;

  TimeWindow window_;
  int columns_;
  std::int64_t slots_;
  Shares on_disk_;  ///< empty: there were none
  std::vector<Shares> lanes_;
};

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// One window of a planned sweep as a piece of SVG: step against time, below it what the disk does
// and which slots are in use. Its size does not grow with the number of steps.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "planners/questions/simulate.h"
#include "tool/pictures/palette.h"

namespace anadrome::tool {

using questions::Held;
using schedule::Doing;
using Span = schedule::Span<double>;

struct PanelWindow {
  double start = 0, end = 0;  ///< seconds
  double first_step = 0, last_step = 0;
  std::string title;
  std::string axis = "step";
};

class SweepPanel {
 public:
  /// `slots` of RAM, 0: no lanes for them; `disk`: are there lanes for the disk?
  SweepPanel(PanelWindow window, std::int64_t slots, bool disk);

  void add(const Span& span);
  void add(const Held& held);

  /// At most this wide, with its labels.
  static constexpr double kWidth = 1000;
  double height() const;
  void draw(Svg& svg, double top) const;

 private:
  static constexpr int kColumns = 860, kRows = 260;

  /// How much of each pixel column something took.
  class Lane {
   public:
    Lane() : partial_(kColumns, 0), whole_(kColumns + 1, 0) {}
    void add(double from, double to, double weight);  ///< in columns
    std::vector<double> shares() const;

   private:
    std::vector<double> partial_, whole_;
  };

  double column(double seconds) const;
  double row(double step) const;
  void mark(const Span& span);
  void draw_steps(Svg& svg, double top) const;
  void draw_lines(Svg& svg) const;
  void draw_marks(Svg& svg) const;
  void draw_axes(Svg& svg, double top) const;
  void draw_time_axis(Svg& svg, double top) const;
  void draw_lane(Svg& svg, const Lane& lane, double top, double height, Colour colour) const;
  double draw_disk(Svg& svg, double top) const;
  void draw_slots(Svg& svg, double top) const;
  double slot_height() const;

  PanelWindow window_;
  std::int64_t slots_;
  bool disk_;
  std::vector<Span> spans_;  ///< as long as they are few
  bool few_ = true;
  std::vector<std::vector<bool>> marks_;  ///< by what was done: pixels, column by column
  /// To a directory.
  struct Link {
    Lane writes, reads;
    bool is_used = false;
  };
  int links() const { return links_[1].is_used ? 2 : 1; }
  std::array<Link, 2> links_;
  Lane on_disk_;
  bool holds_on_disk_ = false;
  std::vector<Lane> slot_lanes_;
};

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/timeline_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "base/index.h"
#include "tool/pictures/palette.h"

namespace anadrome::tool {
namespace {

constexpr double kSolverHeight = 28, kIoHeight = 20, kPassesHeight = 12, kLaneGap = 2;
constexpr double kRankGap = 14;
constexpr double kHalfLine = 1;
constexpr double kWaitSticksOut = 4;

// Painted from the bottom of a lane up; waits hang down from its top.
constexpr std::array kStack = {Activity::kAdvance,    Activity::kRecompute, Activity::kAdjoint,
                               Activity::kVisit,      Activity::kTurn,      Activity::kCopy,
                               Activity::kAgree,      Activity::kWrite,     Activity::kRead,
                               Activity::kFastWrite,  Activity::kFastRead,  Activity::kForwardPass,
                               Activity::kReversePass};

constexpr std::array kLanesDown = {Lane::kSolver, Lane::kIo, Lane::kFastIo, Lane::kPasses};

constexpr double height_of(Lane lane) {
  return lane == Lane::kSolver ? kSolverHeight : lane == Lane::kPasses ? kPassesHeight : kIoHeight;
}

// Pixels from the top of the lane.
struct Bar {
  int top = 0, bottom = 0;
  bool operator==(const Bar&) const = default;
};
using Bars = std::array<Bar, kActivities>;

int pixels(double length) { return static_cast<int>(std::lround(length)); }

// A smaller share of a column is not worth a pixel.
constexpr double kLeastShare = 0.001;

Bars bars_of(const TimelineColumns& columns, int column, Lane lane, int height) {
  std::array<double, kActivities> shares = {};
  double sum = 0;
  for (std::size_t i = 0; i < kActivities; ++i) {
    const auto activity = static_cast<Activity>(i);
    if (lane_of(activity) == lane) sum += shares[i] = columns.share(column, activity);
  }
  const double whole = std::max(sum, 1.0);
  Bars bars = {};
  const double wait = shares[index_of(Activity::kWait)] / whole;
  int ceiling = 0;
  if (wait >= kLeastShare) {
    ceiling = std::max(2, pixels(wait * height));
    bars[index_of(Activity::kWait)] = {wait > 0.02 ? -pixels(kWaitSticksOut) : 0, ceiling};
  }
  const double per_share = (height - ceiling) / std::max(1 - wait, 1e-6);
  double filled = 0;
  int top = height;
  for (const Activity activity : kStack) {
    const double share = shares[index_of(activity)] / whole;
    if (share < kLeastShare) continue;
    filled += share;
    const int bottom = top;
    top = std::clamp(height - pixels(filled * per_share), ceiling, bottom);
    // A lone short transfer is what the I/O lane is there to show.
    if (lane != Lane::kSolver) top = std::max(0, std::min(top, bottom - 3));
    bars[index_of(activity)] = {top, bottom};
  }
  return bars;
}

// The area between two curves over the columns first .. last: along the top, and back below.
void outline(Svg& svg, double left, int first, int last, const std::function<double(int)>& top_of,
             const std::function<double(int)>& bottom_of) {
  svg.move(left + first, top_of(first));
  for (int column = first; column <= last; ++column) svg.line(left + column + 0.5, top_of(column));
  svg.line(left + last + 1, top_of(last));
  svg.line(left + last + 1, bottom_of(last));
  for (int column = last; column >= first; --column) {
    svg.line(left + column + 0.5, bottom_of(column));
  }
  svg.line(left + first, bottom_of(first));
  svg.close_shape();
}

constexpr Letters kRightOfLane = {.anchor = "end"};
constexpr Letters kBoldRight = {.anchor = "end", .bold = true};

}  // namespace

void TimelinePanel::add_rank(std::string name, std::span<const TraceEvent> events) {
  ranks_.push_back({std::move(name), TimelineColumns(window_, columns_)});
  for (const TraceEvent& event : events) add(event);
}

void TimelinePanel::add(const TraceEvent& event) {
  ranks_.back().columns.add(event);
  seen_[index_of(event.activity)] = true;
}

bool TimelinePanel::has(Lane lane) const {
  if (lane == Lane::kSolver || (lane == Lane::kIo && shape_.disk)) return true;
  for (std::size_t i = 0; i < kActivities; ++i) {
    if (seen_[i] && lane_of(static_cast<Activity>(i)) == lane) return true;
  }
  return false;
}

double TimelinePanel::height() const {
  const auto ranks = real(std::ssize(ranks_));
  double lanes = -kLaneGap;
  for (const Lane lane : kLanesDown) {
    if (has(lane)) lanes += kLaneGap + height_of(lane);
  }
  return ranks * (lanes + kRankGap) + shape_.steps_height + held_.height();
}

double TimelinePanel::x_of(double seconds) const {
  return (seconds - window_.start) / window_.seconds() * columns_;
}

void TimelinePanel::draw(Svg& svg, const Style& style) const {
  double top = style.top;
  draw_captions(svg, style);
  for (const Rank& rank : ranks_) {
    if (!rank.name.empty()) svg.text(style.left - 66, top + 19, rank.name, kBoldRight);
    for (const Lane lane : kLanesDown) {
      if (!has(lane)) continue;
      const double height = height_of(lane);
      svg.text(style.left - 8, top + height / 2 + 5, engine::to_string(lane), kRightOfLane);
      draw_lane(svg, rank, lane, style.left, top);
      top += height + kLaneGap;
    }
    top += kRankGap - kLaneGap;
  }
  draw_steps(svg, style, top);
  held_.draw(svg, style.left, top + shape_.steps_height);
  draw_axis(svg, style);
}

void TimelinePanel::draw_captions(Svg& svg, const Style& style) const {
  if (!style.turn.has_value()) return;
  const double x = x_of(*style.turn), y = style.top - 9;
  constexpr double kLeastWidth = 150;
  const Letters quiet = {.anchor = "middle", .colour = kQuiet};
  svg.text(style.left + x, y, "TURN", {.anchor = "middle", .bold = true});
  if (x > kLeastWidth) svg.text(style.left + x / 2, y, "forward sweep", quiet);
  const double end = std::min<double>(columns_, x_of(style.passes.value_or(window_.end)));
  if (end - x > kLeastWidth) svg.text(style.left + (x + end) / 2, y, "reverse sweep", quiet);
}

void TimelinePanel::draw_lane(Svg& svg, const Rank& rank, Lane lane, double left,
                              double top) const {
  const double height = height_of(lane);
  svg.rectangle(left, top, columns_, height, kLane);
  std::vector<Bars> bars;
  bars.reserve(size(columns_));
  for (int column = 0; column < columns_; ++column) {
    bars.push_back(bars_of(rank.columns, column, lane, pixels(height)));
  }
  constexpr bool kCrisp = true;
  svg.begin_group(left, top, kCrisp);
  for (std::size_t i = 0; i < kActivities; ++i) {
    const auto empty = [i](const Bars& b) { return b[i].bottom <= b[i].top; };
    if (std::all_of(bars.begin(), bars.end(), empty)) continue;
    svg.begin_path({.fill = colour_of(static_cast<Activity>(i))});
    for (std::size_t column = 0; column < bars.size();) {
      const Bar bar = bars[column][i];
      std::size_t end = column + 1;
      while (end < bars.size() && bars[end][i] == bar) ++end;
      if (bar.bottom > bar.top) {
        const auto width = real(end - column);
        svg.move(real(column), bar.top);
        svg.right(width);
        svg.down(bar.bottom - bar.top);
        svg.right(-width);
        svg.close_shape();
      }
      column = end;
    }
    svg.end_path();
  }
  svg.end_group();
}

void TimelinePanel::draw_steps(Svg& svg, const Style& style, double top) const {
  const double height = shape_.steps_height;
  svg.rectangle(style.left, top, columns_, height, kPlot);
  if (ranks_.empty()) return;
  const TimelineColumns& columns = ranks_.front().columns;
  TimelineColumns::Range axis = columns.steps();
  if (style.steps > 0) axis = {0, real(style.steps)};
  if (axis.empty()) return;
  axis.low = std::floor(axis.low);
  axis.high = std::max(std::ceil(axis.high), axis.low + 1);
  const double scale = (height - 8) / (axis.high - axis.low);
  const auto y_of = [&](double step) {
    return std::clamp(top + height - 4 - (step - axis.low) * scale, top, top + height);
  };
  svg.text(style.left - 8, top + 13, format_fixed(axis.high, 0), kRightOfLane);
  svg.text(style.left - 8, top + height / 2 + 5, style.axis, kBoldRight);
  svg.text(style.left - 8, top + height - 2, format_fixed(axis.low, 0), kRightOfLane);

  for (const Activity activity :
       {Activity::kAdvance, Activity::kRecompute, Activity::kAdjoint, Activity::kVisit}) {
    svg.begin_path({.fill = colour_of(activity)});
    for (int first = 0; first < columns_; ++first) {
      if (columns.steps(first, activity).empty()) continue;
      int last = first;
      while (last + 1 < columns_ && !columns.steps(last + 1, activity).empty()) ++last;
      outline(
          svg, style.left, first, last,
          [&](int column) { return y_of(columns.steps(column, activity).high) - kHalfLine; },
          [&](int column) { return y_of(columns.steps(column, activity).low) + kHalfLine; });
      first = last;
    }
    svg.end_path();
  }
}

void TimelinePanel::draw_axis(Svg& svg, const Style& style) const {
  const double bottom = style.top + height();
  const double origin = style.times_from_turn ? style.turn.value_or(0) : 0;
  const TimeWindow shown = {window_.start - origin, window_.end - origin};
  const TimeUnit unit = unit_for(std::max(std::fabs(shown.start), std::fabs(shown.end)));
  const double step = round_step(shown.seconds() / unit.seconds, 10);
  const int digits = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  const double first = std::ceil(shown.start / unit.seconds / step - 1e-9);
  const double last = std::floor(shown.end / unit.seconds / step + 1e-9);
  for (double tick = first; tick <= last; ++tick) {
    const double at = tick * step;
    const double x = style.left + x_of(origin + at * unit.seconds);
    svg.vertical(x, style.top, bottom + 4, {.stroke = kInk, .opacity = 0.13});
    const char* sign = style.times_from_turn && tick > 0 ? "+" : "";
    svg.text(x, bottom + 19, sign + format_fixed(at, digits) + " " + unit.name,
             {.anchor = "middle"});
  }
  if (style.turn.has_value()) {
    svg.vertical(style.left + x_of(*style.turn), style.top - 5, bottom + 4,
                 {.stroke = kInk, .width = 1.6, .dashes = "6 3"});
  }
}

}  // namespace anadrome::tool

#include "engine/timeline_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

namespace anadrome::engine {
namespace {

constexpr double kSolverHeight = 28, kIoHeight = 20, kLaneGap = 2, kRankGap = 14;
constexpr double kStepsHeight = 120, kHalfLine = 1;
constexpr double kWaitSticksOut = 4;
constexpr const char* kQuiet = "#5f6b76";

// Painted from the bottom of a lane up; waits hang down from its top.
constexpr std::array kStack = {Activity::kAdvance, Activity::kRecompute, Activity::kAdjoint,
                               Activity::kTurn,    Activity::kCopy,      Activity::kAgree,
                               Activity::kWrite,   Activity::kRead};

// Pixels from the top of the lane.
struct Bar {
  int top = 0, bottom = 0;
  bool operator==(const Bar&) const = default;
};
using Bars = std::array<Bar, kActivities>;

int pixels(double length) { return static_cast<int>(std::lround(length)); }

// What is less than this share of a column is not worth a pixel.
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
    if (lane == Lane::kIo) top = std::max(0, std::min(top, bottom - 3));
    bars[index_of(activity)] = {top, bottom};
  }
  return bars;
}

void text(TextOut& out, double x, double y, const char* anchor, const char* more,
          std::string_view words) {
  out.put("<text x=\"").fixed(x, 1).put("\" y=\"").fixed(y, 1).put("\" text-anchor=\"");
  out.put(anchor).put("\"").put(more).put(">").put(words).put("</text>\n");
}

void rectangle(TextOut& out, double x, double y, double width, double height, const char* fill) {
  out.put("<rect x=\"").fixed(x, 1).put("\" y=\"").fixed(y, 1).put("\" width=\"").fixed(width, 1);
  out.put("\" height=\"").fixed(height, 1).put("\" fill=\"").put(fill).put("\"/>\n");
}

void vertical_line(TextOut& out, double x, double top, double bottom, const char* more) {
  out.put("<path d=\"M").fixed(x, 1).put(" ").fixed(top, 1).put("V").fixed(bottom, 1);
  out.put("\" fill=\"none\" ").put(more).put("/>\n");
}

// The area between two curves over the columns first .. last: along the top, and back below.
void outline(TextOut& out, double left, int first, int last,
             const std::function<double(int)>& top_of,
             const std::function<double(int)>& bottom_of) {
  const auto point = [&](const char* command, double column, double y) {
    out.put(command).fixed(left + column, 1).put(" ").fixed(y, 1);
  };
  point("M", first, top_of(first));
  for (int column = first; column <= last; ++column) point("L", column + 0.5, top_of(column));
  point("L", last + 1, top_of(last));
  point("L", last + 1, bottom_of(last));
  for (int column = last; column >= first; --column) point("L", column + 0.5, bottom_of(column));
  point("L", first, bottom_of(first));
  out.put("z");
}

// 1, 2 or 5 times a power of ten, so that `length` has at most `most` of them.
double round_step(double length, double most) {
  const double least = length / most;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

struct Unit {
  double seconds;
  const char* name;
};
Unit unit_for(double longest) {
  for (const Unit unit : {Unit{3600, "h"}, Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}}) {
    if (longest >= 2 * unit.seconds) return unit;
  }
  return {1e-9, "ns"};
}

}  // namespace

// From Okabe and Ito's palette: what the solver does in blues and green, transfers in purples.
const char* colour_of(Activity activity) {
  switch (activity) {
    case Activity::kAdvance:
      return "#0072b2";
    case Activity::kRecompute:
      return "#6cb8ea";
    case Activity::kAdjoint:
      return "#009e73";
    case Activity::kTurn:
      return "#1c1c1c";
    case Activity::kCopy:
      return "#9aa3ab";
    case Activity::kWait:
      return "#e8400c";
    case Activity::kAgree:
      return "#e6b800";
    case Activity::kWrite:
      return "#c06aa0";
    case Activity::kRead:
      return "#5b3a8c";
  }
  return "#000000";
}

void TimelinePanel::add_rank(int rank, std::span<const TraceEvent> events) {
  ranks_.push_back({rank, TimelineColumns(window_, columns_)});
  for (const TraceEvent& event : events) ranks_.back().columns.add(event);
}

double TimelinePanel::height() const {
  const auto ranks = static_cast<double>(ranks_.size());
  return ranks * (kSolverHeight + kLaneGap + kIoHeight + kRankGap) + kStepsHeight;
}

double TimelinePanel::x_of(double seconds) const {
  return (seconds - window_.start) / window_.seconds() * columns_;
}

void TimelinePanel::draw(TextOut& out, const Style& style) const {
  double top = style.top;
  draw_captions(out, style);
  for (const Rank& rank : ranks_) {
    text(out, style.left - 66, top + 19, "end", " font-weight=\"bold\"",
         "rank " + std::to_string(rank.number));
    text(out, style.left - 8, top + 19, "end", "", "solver");
    draw_lane(out, rank, Lane::kSolver, style.left, top);
    top += kSolverHeight + kLaneGap;
    text(out, style.left - 8, top + 15, "end", "", "I/O");
    draw_lane(out, rank, Lane::kIo, style.left, top);
    top += kIoHeight + kRankGap;
  }
  draw_steps(out, style, top);
  draw_axis(out, style);
}

void TimelinePanel::draw_captions(TextOut& out, const Style& style) const {
  if (!style.turn.has_value()) return;
  const double x = x_of(*style.turn), y = style.top - 9;
  constexpr double kLeastWidth = 150;
  text(out, style.left + x, y, "middle", " font-weight=\"bold\"", "TURN");
  const std::string quiet = std::string(" fill=\"") + kQuiet + "\"";
  if (x > kLeastWidth) {
    text(out, style.left + x / 2, y, "middle", quiet.c_str(), "forward sweep");
  }
  if (columns_ - x > kLeastWidth) {
    text(out, style.left + (x + columns_) / 2, y, "middle", quiet.c_str(), "reverse sweep");
  }
}

void TimelinePanel::draw_lane(TextOut& out, const Rank& rank, Lane lane, double left,
                              double top) const {
  const double height = lane == Lane::kSolver ? kSolverHeight : kIoHeight;
  rectangle(out, left, top, columns_, height, "#eceff2");
  std::vector<Bars> bars;
  bars.reserve(static_cast<std::size_t>(columns_));
  for (int column = 0; column < columns_; ++column) {
    bars.push_back(bars_of(rank.columns, column, lane, pixels(height)));
  }
  out.put("<g shape-rendering=\"crispEdges\" transform=\"translate(").fixed(left, 1).put(" ");
  out.fixed(top, 1).put(")\">\n");
  for (std::size_t i = 0; i < kActivities; ++i) {
    if (std::all_of(bars.begin(), bars.end(),
                    [&](const Bars& b) { return b[i].bottom <= b[i].top; }))
      continue;
    out.put("<path fill=\"").put(colour_of(static_cast<Activity>(i))).put("\" d=\"");
    for (std::size_t column = 0; column < bars.size();) {
      const Bar bar = bars[column][i];
      std::size_t end = column + 1;
      while (end < bars.size() && bars[end][i] == bar) ++end;
      if (bar.bottom > bar.top) {
        const auto width = static_cast<std::int64_t>(end - column);
        out.put("M").integer(static_cast<std::int64_t>(column)).put(" ").integer(bar.top);
        out.put("h").integer(width).put("v").integer(bar.bottom - bar.top);
        out.put("h-").integer(width).put("z");
      }
      column = end;
    }
    out.put("\"/>\n");
  }
  out.put("</g>\n");
}

void TimelinePanel::draw_steps(TextOut& out, const Style& style, double top) const {
  rectangle(out, style.left, top, columns_, kStepsHeight, "#f6f8f9");
  if (ranks_.empty()) return;
  const TimelineColumns& columns = ranks_.front().columns;
  TimelineColumns::Range axis = columns.steps();
  if (style.steps > 0) axis = {0, static_cast<double>(style.steps)};
  if (axis.empty()) return;
  axis.low = std::floor(axis.low);
  axis.high = std::max(std::ceil(axis.high), axis.low + 1);
  const double scale = (kStepsHeight - 8) / (axis.high - axis.low);
  const auto y_of = [&](double step) {
    return std::clamp(top + kStepsHeight - 4 - (step - axis.low) * scale, top, top + kStepsHeight);
  };
  text(out, style.left - 8, top + 13, "end", "", format_fixed(axis.high, 0));
  text(out, style.left - 8, top + kStepsHeight / 2 + 5, "end", " font-weight=\"bold\"", "step");
  text(out, style.left - 8, top + kStepsHeight - 2, "end", "", format_fixed(axis.low, 0));

  for (const Activity activity : {Activity::kAdvance, Activity::kRecompute, Activity::kAdjoint}) {
    out.put("<path fill=\"").put(colour_of(activity)).put("\" d=\"");
    for (int first = 0; first < columns_; ++first) {
      if (columns.steps(first, activity).empty()) continue;
      int last = first;
      while (last + 1 < columns_ && !columns.steps(last + 1, activity).empty()) ++last;
      outline(
          out, style.left, first, last,
          [&](int column) { return y_of(columns.steps(column, activity).high) - kHalfLine; },
          [&](int column) { return y_of(columns.steps(column, activity).low) + kHalfLine; });
      first = last;
    }
    out.put("\"/>\n");
  }
}

void TimelinePanel::draw_axis(TextOut& out, const Style& style) const {
  const double bottom = style.top + height();
  const double origin = style.times_from_turn ? style.turn.value_or(0) : 0;
  const TimeWindow shown = {window_.start - origin, window_.end - origin};
  const Unit unit = unit_for(std::max(std::fabs(shown.start), std::fabs(shown.end)));
  const double step = round_step(shown.seconds() / unit.seconds, 10);
  const int digits = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  const double first = std::ceil(shown.start / unit.seconds / step - 1e-9);
  const double last = std::floor(shown.end / unit.seconds / step + 1e-9);
  for (double tick = first; tick <= last; ++tick) {
    const double at = tick * step;
    const double x = style.left + x_of(origin + at * unit.seconds);
    vertical_line(out, x, style.top, bottom + 4, "stroke=\"#1c1c1c\" stroke-opacity=\"0.13\"");
    const char* sign = style.times_from_turn && tick > 0 ? "+" : "";
    text(out, x, bottom + 19, "middle", "", sign + format_fixed(at, digits) + " " + unit.name);
  }
  if (style.turn.has_value()) {
    vertical_line(out, style.left + x_of(*style.turn), style.top - 5, bottom + 4,
                  "stroke=\"#1c1c1c\" stroke-width=\"1.6\" stroke-dasharray=\"6 3\"");
  }
}

}  // namespace anadrome::engine

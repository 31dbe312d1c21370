// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/recorded_sweep.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/byte_size.h"
#include "tool/pictures/palette.h"
#include "tool/pictures/timeline_panel.h"

namespace anadrome::tool {
namespace {

constexpr TimelinePanel::Shape kShape = {.columns = 1256};
constexpr double kLeftOfTimeline = 124, kRightOfTimeline = kLeftOfTimeline + kShape.columns;
constexpr double kWidth = kRightOfTimeline + 30;
constexpr double kAboveTimeline = 118, kBetweenPanels = 24, kBelowTimeline = 34;
constexpr double kTimelineLetters = 14;

class Timeline {
 public:
  explicit Timeline(const RecordedSweep& sweep);
  void draw(TextOut& out) const;

 private:
  double mean_seconds(Activity activity) const {
    return sweep_.seconds[index_of(activity)] / std::max(sweep_.ranks, 1);
  }
  std::string foot() const;
  void draw_title(Svg& svg) const;
  void draw_legend(Svg& svg, double y) const;
  void draw_magnifier(Svg& svg, const TimelinePanel::Style& whole,
                      const TimelinePanel::Style& close) const;

  const RecordedSweep& sweep_;
  double seconds_ = 0;
  std::optional<double> turn_, passes_;
  std::optional<TimelinePanel> whole_, close_;
};

// The first rank's events say what the time axes are.
Timeline::Timeline(const RecordedSweep& sweep) : sweep_(sweep) {
  const double said = sweep.heading.seconds;
  seconds_ = std::isfinite(said) ? std::max(said, 0.0) : 0.0;
  std::span<const TraceEvent> events;
  if (!sweep.first_ranks.empty()) events = sweep.first_ranks.front().events;
  for (const TraceEvent& event : events) seconds_ = std::max(seconds_, event.end);
  constexpr double kLeast = 1e-9;  // a time axis needs some length
  if (!(seconds_ >= kLeast)) return;
  whole_.emplace(TimeWindow{0, seconds_}, kShape);
  turn_ = turn_of(events);
  passes_ = passes_of(events);
  if (turn_.has_value()) {
    if (const auto window = window_around(*turn_, events, seconds_)) {
      close_.emplace(*window, kShape);
    }
  }
  for (const RecordedRank& rank : sweep.first_ranks) {
    const std::string name = "rank " + std::to_string(rank.number);
    whole_->add_rank(name, rank.events);
    if (close_.has_value()) close_->add_rank(name, rank.events);
  }
}

void Timeline::draw(TextOut& out) const {
  TimelinePanel::Style whole{kLeftOfTimeline, kAboveTimeline + TimelinePanel::kAbove,
                             turn_,           passes_,
                             false,           sweep_.heading.steps};
  TimelinePanel::Style close{kLeftOfTimeline, 0, turn_, passes_, true, -1};
  double height = kAboveTimeline;
  if (whole_.has_value()) {
    height = whole.top + whole_->height() + TimelinePanel::kBelow;
  }
  if (close_.has_value()) {
    close.top = height + kBetweenPanels + TimelinePanel::kAbove;
    height = close.top + close_->height() + TimelinePanel::kBelow;
  }
  height += kBelowTimeline;
  Svg svg(out, kWidth, height, kTimelineLetters);
  draw_title(svg);
  draw_legend(svg, 68);
  if (close_.has_value()) draw_magnifier(svg, whole, close);
  if (whole_.has_value()) whole_->draw(svg, whole);
  if (close_.has_value()) close_->draw(svg, close);
  svg.text(kLeftOfTimeline, height - 14, foot(), {.size = 12, .colour = kQuiet});
  svg.close();
}

std::string Timeline::foot() const {
  if (!whole_.has_value()) return "Nothing was recorded.";
  std::string words = "A colour's height is its share of the time of a pixel column.";
  const auto drawn = static_cast<int>(sweep_.first_ranks.size());
  if (sweep_.ranks > 1) words += " Times above are means of the ranks.";
  if (sweep_.ranks > drawn) {
    words += " Not drawn: " + counted(sweep_.ranks - drawn, "more rank") + ".";
  }
  if (sweep_.merged > 0) words += " Merged: " + counted(sweep_.merged, "short event") + ".";
  return words;
}

void Timeline::draw_title(Svg& svg) const {
  constexpr const char* kDot = " \u00b7 ";
  constexpr double kWorthALook = 1, kTop = 36;
  const engine::TraceHeading& heading = sweep_.heading;
  const double waited = seconds_ > 0 ? 100 * mean_seconds(Activity::kWait) / seconds_ : 0;
  std::string words = "anadrome " + heading.version + kDot + "schedule " + heading.schedule;
  if (heading.steps >= 0) words += kDot + counted(heading.steps, "step");
  words += kDot + counted(heading.ranks, "rank") + kDot + format_seconds(seconds_);
  svg.about(words, "");
  svg.text(16, kTop, words, {.size = 20, .bold = true});
  svg.text(kRightOfTimeline, kTop, format_fixed(waited, 1) + " % waited",
           {.anchor = "end",
            .size = 20,
            .bold = true,
            .colour = waited >= kWorthALook ? colour_of(Activity::kWait) : kQuiet});
}

// The solver's on a line of their own.
void Timeline::draw_legend(Svg& svg, double y) const {
  constexpr double kMargin = 16, kLabel = 68, kLine = 24;
  double x = kMargin;
  for (const Lane lane : {Lane::kSolver, Lane::kIo, Lane::kFastIo, Lane::kPasses}) {
    bool named = false;
    for (std::size_t i = 0; i < kActivities; ++i) {
      const auto activity = static_cast<Activity>(i);
      if (lane_of(activity) != lane || sweep_.seconds[i] <= 0) continue;
      if (!std::exchange(named, true)) {
        svg.text(x, y, engine::to_string(lane), {.bold = true});
        x += kLabel;
      }
      x = svg.legend(
          x, y, colour_of(activity),
          std::string(engine::to_string(activity)) + " " + format_seconds(mean_seconds(activity)));
    }
    if (lane != Lane::kSolver) continue;
    x = kMargin;
    y += kLine;
  }
}

void Timeline::draw_magnifier(Svg& svg, const TimelinePanel::Style& whole,
                              const TimelinePanel::Style& close) const {
  const double left = kLeftOfTimeline + whole_->x_of(close_->window().start);
  const double right = std::max(kLeftOfTimeline + whole_->x_of(close_->window().end), left + 1);
  const double bottom = whole.top + whole_->height();
  const double top_close = close.top - TimelinePanel::kAbove;
  const double bottom_close = close.top + close_->height() + 4;
  svg.begin_path({.fill = kCloseUp});
  svg.move(left, whole.top - 5);
  svg.line(right, whole.top - 5);
  svg.line(right, bottom);
  svg.line(kRightOfTimeline, top_close);
  svg.line(kRightOfTimeline, bottom_close);
  svg.line(kLeftOfTimeline, bottom_close);
  svg.line(kLeftOfTimeline, top_close);
  svg.line(left, bottom);
  svg.close_shape();
  svg.end_path();
}

}  // namespace

void draw_timeline(const RecordedSweep& sweep, TextOut& out) { Timeline(sweep).draw(out); }

}  // namespace anadrome::tool

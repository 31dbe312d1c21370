#include "engine/timeline_svg.h"

#include <algorithm>
#include <cmath>

#include "base/byte_size.h"

namespace anadrome::engine {
namespace {

constexpr int kColumns = 1256;
constexpr double kLeft = 124, kWidth = kLeft + kColumns + 30;
constexpr double kHead = 118;
constexpr double kBetweenPanels = 24;
constexpr double kFoot = 34;

std::string escaped(const std::string& text) {
  std::string xml;
  for (const char c : text) {
    if (c == '&') {
      xml += "&amp;";
    } else if (c == '<') {
      xml += "&lt;";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      xml += c;
    }
  }
  return xml;
}

std::string counted(std::int64_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

constexpr const char* kQuiet = "#5f6b76";
constexpr const char* kDot = " \u00b7 ";

}  // namespace

void TimelineSvg::begin(const TraceHeading& heading) {
  heading_ = heading;
  ranks_added_ = 0;
  merged_ = 0;
  seconds_ = {};
  turn_.reset();
  whole_.reset();
  close_.reset();
}

// The first rank's events say what the time axes are.
void TimelineSvg::set_time(std::span<const TraceEvent> events) {
  double seconds = std::isfinite(heading_.seconds) ? std::max(heading_.seconds, 0.0) : 0.0;
  for (const TraceEvent& event : events) seconds = std::max(seconds, event.end);
  heading_.seconds = seconds;
  constexpr double kLeast = 1e-9;  // a time axis needs some length
  if (!(seconds >= kLeast)) return;
  whole_.emplace(TimeWindow{0, seconds}, kColumns);
  turn_ = turn_of(events);
  if (!turn_.has_value()) return;
  if (const auto window = window_around(*turn_, events, seconds)) close_.emplace(*window, kColumns);
}

void TimelineSvg::add_rank(int rank, std::span<const TraceEvent> events, std::int64_t merged) {
  if (ranks_added_ == 0) set_time(events);
  merged_ += merged;
  for (const TraceEvent& event : events) {
    seconds_[index_of(event.activity)] += event.end - event.start;
  }
  if (++ranks_added_ > kMostRanks) return;
  if (whole_.has_value()) whole_->add_rank(rank, events);
  if (close_.has_value()) close_->add_rank(rank, events);
}

double TimelineSvg::mean_seconds(Activity activity) const {
  return seconds_[index_of(activity)] / std::max(ranks_added_, 1);
}

void TimelineSvg::end() {
  TimelinePanel::Style whole{kLeft, kHead + TimelinePanel::kAbove, turn_, false, heading_.steps};
  TimelinePanel::Style close{kLeft, 0, turn_, true, -1};
  double height = kHead;
  if (whole_.has_value()) {
    height = whole.top + whole_->height() + TimelinePanel::kBelow;
  }
  if (close_.has_value()) {
    close.top = height + kBetweenPanels + TimelinePanel::kAbove;
    height = close.top + close_->height() + TimelinePanel::kBelow;
  }
  height += kFoot;

  out_.put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"").fixed(kWidth, 0);
  out_.put("\" height=\"").fixed(height, 0).put("\" viewBox=\"0 0 ").fixed(kWidth, 0).put(" ");
  out_.fixed(height, 0).put(
      "\" font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\"");
  out_.put(" font-size=\"14\" fill=\"#1c1c1c\">\n");
  out_.put("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
  draw_title();
  draw_legend(68);
  if (close_.has_value()) draw_magnifier(whole, close);
  if (whole_.has_value()) whole_->draw(out_, whole);
  if (close_.has_value()) close_->draw(out_, close);

  out_.put("<text x=\"").fixed(kLeft, 1).put("\" y=\"").fixed(height - 14, 1);
  out_.put("\" font-size=\"12\" fill=\"#5f6b76\">");
  if (!whole_.has_value()) {
    out_.put("Nothing was recorded.");
  } else {
    out_.put("A colour's height is its share of the time of a pixel column.");
    if (ranks_added_ > 1) out_.put(" Times above are means of the ranks.");
    if (ranks_added_ > kMostRanks) {
      out_.put(" Not drawn: ").put(counted(ranks_added_ - kMostRanks, "more rank")).put(".");
    }
    if (merged_ > 0) out_.put(" Merged: ").put(counted(merged_, "short event")).put(".");
  }
  out_.put("</text>\n</svg>\n");
  out_.flush();
}

void TimelineSvg::draw_title() {
  const double seconds = heading_.seconds;
  const double waited = seconds > 0 ? 100 * mean_seconds(Activity::kWait) / seconds : 0;
  std::string words =
      "anadrome " + escaped(heading_.version) + kDot + "schedule " + escaped(heading_.schedule);
  if (heading_.steps >= 0) words += kDot + counted(heading_.steps, "step");
  words += kDot + counted(heading_.ranks, "rank") + kDot + format_seconds(seconds);
  out_.put("<title>").put(words).put("</title>\n<text x=\"16\" y=\"36\" font-size=\"20\" ");
  out_.put("font-weight=\"bold\">").put(words).put(kDot).put("<tspan fill=\"");
  constexpr double kWorthALook = 1;
  out_.put(waited >= kWorthALook ? colour_of(Activity::kWait) : kQuiet).put("\">");
  out_.fixed(waited, 1).put(" % waited</tspan></text>\n");
}

void TimelineSvg::draw_legend(double y) {
  for (const Lane lane : {Lane::kSolver, Lane::kIo}) {
    if (lane == Lane::kIo && mean_seconds(Activity::kWrite) + mean_seconds(Activity::kRead) <= 0) {
      continue;
    }
    out_.put("<text x=\"16\" y=\"").fixed(y, 1).put("\" font-weight=\"bold\">");
    out_.put(lane == Lane::kSolver ? "solver" : "I/O").put("</text>\n");
    double x = 84;
    for (std::size_t i = 0; i < kActivities; ++i) {
      const auto activity = static_cast<Activity>(i);
      if (lane_of(activity) != lane || seconds_[i] <= 0) continue;
      const std::string words =
          std::string(to_string(activity)) + " " + format_seconds(mean_seconds(activity));
      out_.put("<rect x=\"").fixed(x, 1).put("\" y=\"").fixed(y - 12, 1);
      out_.put("\" width=\"14\" height=\"14\" rx=\"2\" fill=\"").put(colour_of(activity));
      out_.put("\"/>\n<text x=\"").fixed(x + 20, 1).put("\" y=\"").fixed(y, 1).put("\">");
      out_.put(words).put("</text>\n");
      constexpr double kPerLetter = 8.3;
      x += 36 + static_cast<double>(words.size()) * kPerLetter;
    }
    y += 24;
  }
}

void TimelineSvg::draw_magnifier(const TimelinePanel::Style& whole,
                                 const TimelinePanel::Style& close) {
  const double left = kLeft + whole_->x_of(close_->window().start);
  const double right = std::max(kLeft + whole_->x_of(close_->window().end), left + 1);
  const double bottom = whole.top + whole_->height();
  const double top_close = close.top - TimelinePanel::kAbove;
  out_.put("<path fill=\"#fff3cf\" d=\"M").fixed(left, 1).put(" ").fixed(whole.top - 5, 1);
  out_.put("H").fixed(right, 1).put("V").fixed(bottom, 1);
  out_.put("L").fixed(kLeft + kColumns, 1).put(" ").fixed(top_close, 1);
  out_.put("V").fixed(close.top + close_->height() + 4, 1).put("H").fixed(kLeft, 1);
  out_.put("V").fixed(top_close, 1).put("L").fixed(left, 1).put(" ").fixed(bottom, 1);
  out_.put("z\"/>\n");
}

}  // namespace anadrome::engine

#include "tool/plan/sweep_panel.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace anadrome::tool {
namespace {

constexpr double kLeft = 96, kAbove = 30, kGap = 14, kAxis = 44;
constexpr double kLane = 9, kOnDisk = 44, kSlots = 150;
constexpr std::int64_t kMostLanes = 40;
constexpr std::size_t kFewSpans = 4000;
constexpr std::array kDrawn = {Doing::kForward, Doing::kAgain, Doing::kAdjoint, Doing::kWait};
constexpr const char* kQuiet = "#5f6b76";
constexpr const char* kHeldColour = "#54708c";

std::size_t kind_of(Doing doing) {
  return static_cast<std::size_t>(std::find(kDrawn.begin(), kDrawn.end(), doing) - kDrawn.begin());
}

void label(TextOut& out, double x, double y, const char* anchor, const std::string& words,
           const char* more = "") {
  out.put("<text x=\"").fixed(x, 1).put("\" y=\"").fixed(y, 1).put("\" text-anchor=\"");
  out.put(anchor).put("\"").put(more).put(">").put(words).put("</text>\n");
}

// 1, 2 or 5 times a power of ten, such that `length` has about `parts` of them.
double nice_step(double length, int parts) {
  const double rough = length / parts;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

struct TimeUnit {
  const char* name;
  double seconds;
};

TimeUnit unit_for(double seconds) {
  constexpr double kHour = 3600, kDay = 24 * kHour;
  constexpr double kFew = 3;
  if (seconds >= kFew * 365.25 * kDay) return {"years", 365.25 * kDay};
  if (seconds >= kFew * kDay) return {"days", kDay};
  if (seconds >= kFew * kHour) return {"hours", kHour};
  if (seconds >= kFew * 60) return {"minutes", 60};
  if (seconds >= 1) return {"seconds", 1};
  return seconds >= 1e-3 ? TimeUnit{"milliseconds", 1e-3} : TimeUnit{"microseconds", 1e-6};
}

std::string tick_text(double value) {
  if (std::fabs(value) >= 1e7) return power_text(value);
  return format_fixed(value, 6);
}

}  // namespace

const char* colour_of(Doing doing) {
  switch (doing) {
    case Doing::kForward:
      return "#2a6fbb";
    case Doing::kAgain:
      return "#e08a1e";
    case Doing::kAdjoint:
      return "#8a3a7a";
    case Doing::kWait:
      return "#c0392b";
    case Doing::kWrite:
      return "#1f8a8a";
    case Doing::kRead:
      return "#7fb069";
  }
  return "#000000";
}

void SweepPanel::Lane::add(double from, double to, double weight) {
  from = std::clamp<double>(from, 0, kColumns);
  to = std::clamp<double>(to, 0, kColumns);
  if (to <= from) return;
  const auto first = std::min(static_cast<std::size_t>(from), partial_.size() - 1);
  const auto last = std::min(static_cast<std::size_t>(to), partial_.size() - 1);
  if (first == last) {
    partial_[first] += weight * (to - from);
    return;
  }
  partial_[first] += weight * (static_cast<double>(first + 1) - from);
  partial_[last] += weight * (to - static_cast<double>(last));
  whole_[first + 1] += weight;
  whole_[last] -= weight;
}

std::vector<double> SweepPanel::Lane::shares() const {
  std::vector<double> shares = partial_;
  double running = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    running += whole_[i];
    shares[i] += running;
  }
  return shares;
}

SweepPanel::SweepPanel(PanelWindow window, std::int64_t slots, bool disk)
    : window_(std::move(window)),
      slots_(std::max<std::int64_t>(slots, 1)),
      disk_(disk),
      marks_(kDrawn.size(), std::vector<bool>(static_cast<std::size_t>(kColumns) * kRows)),
      slot_lanes_(static_cast<std::size_t>(std::min(slots_, kMostLanes))) {}

double SweepPanel::column(double seconds) const {
  return (seconds - window_.start) / (window_.end - window_.start) * kColumns;
}

double SweepPanel::row(double step) const {
  return (window_.last_step - step) / (window_.last_step - window_.first_step) * kRows;
}

void SweepPanel::add(const Span& span) {
  if (span.end < window_.start || span.start > window_.end) return;
  const double from = column(span.start), to = column(span.end);
  if (span.doing == Doing::kWrite) return writes_.add(from, to, 1);
  if (span.doing == Doing::kRead) return reads_.add(from, to, 1);
  if (few_) spans_.push_back(span);
  few_ = spans_.size() <= kFewSpans;
  mark(span);
}

// The pixels that the line touches.
void SweepPanel::mark(const Span& span) {
  const double from = column(span.start), to = column(span.end);
  const double slope = to > from ? (row(span.last) - row(span.first)) / (to - from) : 0;
  const int left = std::max(0, static_cast<int>(std::floor(from)));
  const int right = std::min(kColumns - 1, static_cast<int>(std::floor(to)));
  for (int x = left; x <= right; ++x) {
    const double a = row(span.first) + slope * (std::max<double>(from, x) - from);
    const double b = row(span.first) + slope * (std::min<double>(to, x + 1) - from);
    const int top = std::max(0, static_cast<int>(std::floor(std::min(a, b))));
    const int bottom = std::min(kRows - 1, static_cast<int>(std::floor(std::max(a, b))));
    for (int y = top; y <= bottom; ++y) {
      marks_[kind_of(span.doing)]
            [static_cast<std::size_t>(x) * kRows + static_cast<std::size_t>(y)] = true;
    }
  }
}

void SweepPanel::add(const Held& held) {
  if (held.end < window_.start || held.start > window_.end) return;
  const double from = column(held.start), to = column(held.end);
  if (held.tier == Tier::kDisk) return on_disk_.add(from, to, 1);
  const double per_lane = static_cast<double>(slots_) / static_cast<double>(slot_lanes_.size());
  for (std::int64_t slot = held.slot; slot < std::min(held.slot + held.slots, slots_); ++slot) {
    const auto lane = static_cast<std::size_t>(static_cast<double>(slot) / per_lane);
    slot_lanes_[std::min(lane, slot_lanes_.size() - 1)].add(from, to, 1 / per_lane);
  }
}

double SweepPanel::slot_height() const {
  constexpr double kMost = 12;
  return std::min(kMost, kSlots / static_cast<double>(slot_lanes_.size()));
}

double SweepPanel::height() const {
  return kAbove + kRows + kGap + (disk_ ? 2 * kLane + 4 + kOnDisk + 2 * kGap : 0) +
         slot_height() * static_cast<double>(slot_lanes_.size()) + kAxis;
}

void SweepPanel::draw(TextOut& out, double top) const {
  label(out, kLeft, top + kAbove - 12, "start", window_.title, " font-weight=\"bold\"");
  top += kAbove;
  draw_axes(out, top);
  draw_steps(out, top);
  top += kRows + kGap;
  if (disk_) top = draw_disk(out, top);
  draw_slots(out, top);
  draw_time_axis(out, top + slot_height() * static_cast<double>(slot_lanes_.size()));
}

void SweepPanel::draw_axes(TextOut& out, double top) const {
  out.put("<rect x=\"").fixed(kLeft, 1).put("\" y=\"").fixed(top, 1).put("\" width=\"");
  out.fixed(kColumns, 0).put("\" height=\"").fixed(kRows, 0).put("\" fill=\"#f6f7f9\"/>\n");
  const double apart = std::max(1.0, nice_step(window_.last_step - window_.first_step, 5));
  for (double step = std::ceil(window_.first_step / apart) * apart; step <= window_.last_step;
       step += apart) {
    const double y = top + row(step);
    out.put("<path d=\"M").fixed(kLeft, 1).put(" ").fixed(y, 1).put("h").fixed(kColumns, 0);
    out.put("\" stroke=\"#d9dee3\" fill=\"none\"/>\n");
    label(out, kLeft - 8, y + 4, "end", tick_text(step), " font-size=\"12\"");
  }
  out.put("<text transform=\"translate(20 ").fixed(top + kRows / 2.0, 1);
  out.put(") rotate(-90)\" text-anchor=\"middle\">step</text>\n");
}

// In a frame of its own, which hides what leaves the window.
void SweepPanel::draw_steps(TextOut& out, double top) const {
  out.put("<svg x=\"").fixed(kLeft, 1).put("\" y=\"").fixed(top, 1).put("\" width=\"");
  out.fixed(kColumns, 0).put("\" height=\"").fixed(kRows, 0).put("\">\n");
  if (few_) {
    draw_lines(out);
  } else {
    draw_marks(out);
  }
  out.put("</svg>\n");
}

void SweepPanel::draw_lines(TextOut& out) const {
  for (const Doing doing : kDrawn) {
    out.put("<path fill=\"none\" stroke-width=\"1.6\" stroke-linecap=\"round\" stroke=\"");
    out.put(colour_of(doing)).put("\" d=\"");
    for (const Span& span : spans_) {
      if (span.doing != doing) continue;
      // Cut where the window ends.
      const auto at = [&span](double time) {
        const double part =
            span.end > span.start ? (time - span.start) / (span.end - span.start) : 0;
        return span.first + part * (span.last - span.first);
      };
      const double from = std::max(span.start, window_.start);
      const double to = std::min(span.end, window_.end);
      out.put("M").fixed(column(from), 1).put(" ").fixed(row(at(from)), 1);
      out.put("L").fixed(column(to), 1).put(" ").fixed(row(at(to)), 1);
    }
    out.put("\"/>\n");
  }
}

// What is rarer lies higher, and steps that are run again stick out from under their adjoints.
void SweepPanel::draw_marks(TextOut& out) const {
  for (const Doing doing : {Doing::kWait, Doing::kAgain, Doing::kForward, Doing::kAdjoint}) {
    const double sticks_out = doing == Doing::kAgain ? 1.5 : 0;
    const std::vector<bool>& marks = marks_[kind_of(doing)];
    out.put("<path fill=\"none\" stroke-width=\"1.05\" stroke=\"");
    out.put(colour_of(doing)).put("\" d=\"");
    for (int x = 0; x < kColumns; ++x) {
      const auto marked = [&](int y) {
        return y < kRows &&
               marks[static_cast<std::size_t>(x) * kRows + static_cast<std::size_t>(y)];
      };
      for (int y = 0; y < kRows; ++y) {
        if (!marked(y)) continue;
        int end = y + 1;
        while (marked(end)) ++end;
        out.put("M").fixed(x + 0.5, 1).put(" ").fixed(y - sticks_out, 1);
        out.put("v").fixed(end - y + 2 * sticks_out, 1);
        y = end;
      }
    }
    out.put("\"/>\n");
  }
}

// In four shades, a run of equal columns at a time.
void SweepPanel::draw_lane(TextOut& out, const Lane& lane, double top, double height,
                           const char* colour) const {
  constexpr int kShades = 4;
  const std::vector<double> shares = lane.shares();
  std::vector<int> shades;
  for (const double share : shares) {
    constexpr double kLeast = 0.002;
    shades.push_back(
        share < kLeast
            ? 0
            : std::clamp(static_cast<int>(std::ceil(kShades * share - 1e-6)), 1, kShades));
  }
  for (int shade = 1; shade <= kShades; ++shade) {
    std::string runs;
    for (std::size_t x = 0; x < shades.size(); ++x) {
      if (shades[x] != shade) continue;
      std::size_t end = x + 1;
      while (end < shades.size() && shades[end] == shade) ++end;
      runs += "M" + format_fixed(kLeft + static_cast<double>(x), 1) + " " +
              format_fixed(top + height / 2, 1) + "h" + std::to_string(end - x);
      x = end - 1;
    }
    if (runs.empty()) continue;
    out.put("<path fill=\"none\" stroke=\"").put(colour).put("\" stroke-width=\"");
    out.fixed(height, 1).put("\" stroke-opacity=\"").fixed(0.25 + 0.75 * shade / kShades, 2);
    out.put("\" d=\"").put(runs).put("\"/>\n");
  }
}

// Returns where it ends.
double SweepPanel::draw_disk(TextOut& out, double top) const {
  label(out, kLeft - 8, top + kLane, "end", "writes", " font-size=\"12\"");
  draw_lane(out, writes_, top, kLane, colour_of(Doing::kWrite));
  top += kLane + 4;
  label(out, kLeft - 8, top + kLane, "end", "reads", " font-size=\"12\"");
  draw_lane(out, reads_, top, kLane, colour_of(Doing::kRead));
  top += kLane + kGap;

  const std::vector<double> counts = on_disk_.shares();
  const double most = std::max(1.0, *std::max_element(counts.begin(), counts.end()));
  label(out, kLeft - 8, top + 10, "end", tick_text(std::round(most)), " font-size=\"12\"");
  label(out, kLeft - 8, top + kOnDisk, "end", "on disk", " font-size=\"12\"");
  out.put("<path fill=\"#9fc5c5\" d=\"M").fixed(kLeft, 1).put(" ").fixed(top + kOnDisk, 1);
  for (std::size_t x = 0; x < counts.size(); ++x) {
    out.put("L").fixed(kLeft + static_cast<double>(x), 1).put(" ");
    out.fixed(top + kOnDisk * (1 - counts[x] / most), 1);
  }
  out.put("L").fixed(kLeft + kColumns, 1).put(" ").fixed(top + kOnDisk, 1).put("z\"/>\n");
  return top + kOnDisk + kGap;
}

void SweepPanel::draw_slots(TextOut& out, double top) const {
  const double height = slot_height();
  const auto lanes = static_cast<double>(slot_lanes_.size());
  label(out, kLeft - 8, top + std::max(height, 10.0), "end",
        slots_ == 1 ? "slot in RAM" : "RAM slot " + tick_text(static_cast<double>(slots_)),
        " font-size=\"12\"");
  if (slots_ > 2 && height * lanes > 26) {
    label(out, kLeft - 8, top + height * lanes, "end", "1", " font-size=\"12\"");
  }
  for (std::size_t i = 0; i < slot_lanes_.size(); ++i) {
    const double y = top + height * (lanes - 1 - static_cast<double>(i));
    out.put("<rect x=\"").fixed(kLeft, 1).put("\" y=\"").fixed(y, 1).put("\" width=\"");
    out.fixed(kColumns, 0).put("\" height=\"").fixed(height - 1, 1).put("\" fill=\"#eef1f4\"/>\n");
    draw_lane(out, slot_lanes_[i], y, height - 1, kHeldColour);
  }
}

void SweepPanel::draw_time_axis(TextOut& out, double top) const {
  const double length = window_.end - window_.start;
  const TimeUnit unit = unit_for(length);
  const double apart = nice_step(length / unit.seconds, 8);
  const double first = std::ceil(window_.start / unit.seconds / apart) * apart;
  for (double time = first; time * unit.seconds <= window_.end * (1 + 1e-12); time += apart) {
    const double x = kLeft + column(time * unit.seconds);
    out.put("<path d=\"M").fixed(x, 1).put(" ").fixed(top + 2, 1);
    out.put("v5\" stroke=\"").put(kQuiet).put("\" fill=\"none\"/>\n");
    label(out, x, top + 20, "middle", tick_text(time), " font-size=\"12\"");
  }
  label(out, kLeft + kColumns / 2.0, top + 38, "middle", std::string("time, ") + unit.name,
        " font-size=\"12\"");
}

}  // namespace anadrome::tool

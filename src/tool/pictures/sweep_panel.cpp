// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/sweep_panel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/index.h"
#include "tool/number_text.h"

namespace anadrome::tool {
namespace {

constexpr double kLeft = 96, kAbove = 30, kGap = 14, kAxis = 44;
constexpr double kTransfers = 9, kOnDiskHeight = 44, kSlots = 150;
constexpr std::int64_t kMostLanes = 40;
constexpr std::size_t kFewSpans = 4000;
constexpr std::array kDrawn = {Doing::kAdvance, Doing::kRecompute, Doing::kAdjoint, Doing::kWait};
constexpr Letters kRightOfAxis = {.anchor = "end", .size = 12};

std::size_t kind_of(Doing doing) {
  return static_cast<std::size_t>(std::find(kDrawn.begin(), kDrawn.end(), doing) - kDrawn.begin());
}

double number(std::int64_t step) { return real(step); }

std::string tick_text(double value) {
  if (std::fabs(value) >= 1e7) return power_text(value);
  return format_fixed(value, 6);
}

}  // namespace

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
  partial_[first] += weight * (real(first + 1) - from);
  partial_[last] += weight * (to - real(last));
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
      slots_(slots),
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
  if (span.doing == Doing::kWrite || span.doing == Doing::kRead) {
    Link& link = links_[static_cast<std::size_t>(span.link)];
    link.is_used = true;
    return (span.doing == Doing::kWrite ? link.writes : link.reads).add(from, to, 1);
  }
  if (few_) spans_.push_back(span);
  few_ = spans_.size() <= kFewSpans;
  mark(span);
}

// The pixels that the line touches.
void SweepPanel::mark(const Span& span) {
  const double from = column(span.start), to = column(span.end);
  const double first = number(span.first), last = number(span.last);
  const double slope = to > from ? (row(last) - row(first)) / (to - from) : 0;
  const int left = std::max(0, static_cast<int>(std::floor(from)));
  const int right = std::min(kColumns - 1, static_cast<int>(std::floor(to)));
  for (int x = left; x <= right; ++x) {
    const double a = row(first) + slope * (std::max<double>(from, x) - from);
    const double b = row(first) + slope * (std::min<double>(to, x + 1) - from);
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
  if (held.tier == schedule::kDiskTier) {
    holds_on_disk_ = true;
    return on_disk_.add(from, to, 1);
  }
  const double per_lane = real(slots_) / real(std::ssize(slot_lanes_));
  for (std::int64_t slot = held.slot; slot < std::min(held.slot + held.slots, slots_); ++slot) {
    const auto lane = static_cast<std::size_t>(real(slot) / per_lane);
    slot_lanes_[std::min(lane, slot_lanes_.size() - 1)].add(from, to, 1 / per_lane);
  }
}

double SweepPanel::slot_height() const {
  constexpr double kMost = 12;
  return std::min(kMost, kSlots / real(std::ssize(slot_lanes_)));
}

double SweepPanel::height() const {
  return kAbove + kRows + kGap + (disk_ ? links() * (2 * kTransfers + 4 + kGap) : 0) +
         (disk_ && holds_on_disk_ ? kOnDiskHeight + kGap : 0) +
         slot_height() * real(std::ssize(slot_lanes_)) + kAxis;
}

void SweepPanel::draw(Svg& svg, double top) const {
  svg.text(kLeft, top + kAbove - 12, window_.title, {.bold = true});
  top += kAbove;
  draw_axes(svg, top);
  draw_steps(svg, top);
  top += kRows + kGap;
  if (disk_) top = draw_disk(svg, top);
  draw_slots(svg, top);
  draw_time_axis(svg, top + slot_height() * real(std::ssize(slot_lanes_)));
}

void SweepPanel::draw_axes(Svg& svg, double top) const {
  svg.rectangle(kLeft, top, kColumns, kRows, kPlot);
  const double apart = std::max(1.0, round_step(window_.last_step - window_.first_step, 5));
  for (double step = std::ceil(window_.first_step / apart) * apart; step <= window_.last_step;
       step += apart) {
    const double y = top + row(step);
    svg.horizontal(kLeft, y, kColumns, {.stroke = kGrid});
    svg.text(kLeft - 8, y + 4, tick_text(step), kRightOfAxis);
  }
  svg.upward_text(20, top + kRows / 2.0, window_.axis);
}

// In a frame of its own, which hides what leaves the window.
void SweepPanel::draw_steps(Svg& svg, double top) const {
  svg.begin_frame(kLeft, top, kColumns, kRows);
  if (few_) {
    draw_lines(svg);
  } else {
    draw_marks(svg);
  }
  svg.end_frame();
}

void SweepPanel::draw_lines(Svg& svg) const {
  for (const Doing doing : kDrawn) {
    svg.begin_path({.stroke = colour_of(doing), .width = 1.6, .round_ends = true});
    for (const Span& span : spans_) {
      if (span.doing != doing) continue;
      // Cut where the window ends.
      const auto at = [&span](double time) {
        const double part =
            span.end > span.start ? (time - span.start) / (span.end - span.start) : 0;
        return number(span.first) + part * number(span.last - span.first);
      };
      const double from = std::max(span.start, window_.start);
      const double to = std::min(span.end, window_.end);
      svg.move(column(from), row(at(from)));
      svg.line(column(to), row(at(to)));
    }
    svg.end_path();
  }
}

// Rarer marks lie higher, and steps that are run again stick out from under their adjoints.
void SweepPanel::draw_marks(Svg& svg) const {
  for (const Doing doing : {Doing::kWait, Doing::kRecompute, Doing::kAdvance, Doing::kAdjoint}) {
    const double sticks_out = doing == Doing::kRecompute ? 1.5 : 0;
    const std::vector<bool>& marks = marks_[kind_of(doing)];
    svg.begin_path({.stroke = colour_of(doing), .width = 1.05});
    for (int x = 0; x < kColumns; ++x) {
      const auto marked = [&](int y) {
        return y < kRows &&
               marks[static_cast<std::size_t>(x) * kRows + static_cast<std::size_t>(y)];
      };
      for (int y = 0; y < kRows; ++y) {
        if (!marked(y)) continue;
        int end = y + 1;
        while (marked(end)) ++end;
        svg.move(x + 0.5, y - sticks_out);
        svg.down(end - y + 2 * sticks_out);
        y = end;
      }
    }
    svg.end_path();
  }
}

// In four shades, a run of equal columns at a time.
void SweepPanel::draw_lane(Svg& svg, const Lane& lane, double top, double height,
                           Colour colour) const {
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
    if (std::find(shades.begin(), shades.end(), shade) == shades.end()) continue;
    svg.begin_path({.stroke = colour, .width = height, .opacity = 0.25 + 0.75 * shade / kShades});
    for (std::size_t x = 0; x < shades.size(); ++x) {
      if (shades[x] != shade) continue;
      std::size_t end = x + 1;
      while (end < shades.size() && shades[end] == shade) ++end;
      svg.move(kLeft + real(x), top + height / 2);
      svg.right(real(end - x));
      x = end - 1;
    }
    svg.end_path();
  }
}

// Returns where it ends.
double SweepPanel::draw_disk(Svg& svg, double top) const {
  const bool two = links() > 1;
  for (std::size_t i = links_.size(); i-- > 0;) {  // the fast one first, as it is named
    const Link& link = links_[i];
    if (i > 0 && !two) continue;
    const std::string where = !two ? "" : i > 0 ? "fast " : "home ";
    svg.text(kLeft - 8, top + kTransfers, where + "writes", kRightOfAxis);
    draw_lane(svg, link.writes, top, kTransfers, colour_of(Doing::kWrite));
    top += kTransfers + 4;
    svg.text(kLeft - 8, top + kTransfers, where + "reads", kRightOfAxis);
    draw_lane(svg, link.reads, top, kTransfers, colour_of(Doing::kRead));
    top += kTransfers + kGap;
  }

  if (!holds_on_disk_) return top;
  const std::vector<double> counts = on_disk_.shares();
  const double most = std::max(1.0, *std::max_element(counts.begin(), counts.end()));
  svg.text(kLeft - 8, top + 10, tick_text(std::round(most)), kRightOfAxis);
  svg.text(kLeft - 8, top + kOnDiskHeight, "on disk", kRightOfAxis);
  svg.begin_path({.fill = kOnDisk});
  svg.move(kLeft, top + kOnDiskHeight);
  for (std::size_t x = 0; x < counts.size(); ++x) {
    svg.line(kLeft + real(x), top + kOnDiskHeight * (1 - counts[x] / most));
  }
  svg.line(kLeft + kColumns, top + kOnDiskHeight);
  svg.close_shape();
  svg.end_path();
  return top + kOnDiskHeight + kGap;
}

void SweepPanel::draw_slots(Svg& svg, double top) const {
  if (slot_lanes_.empty()) return;
  const double height = slot_height();
  const auto lanes = real(std::ssize(slot_lanes_));
  svg.text(kLeft - 8, top + std::max(height, 10.0),
           slots_ == 1 ? "slot in RAM" : "RAM slot " + tick_text(real(slots_)), kRightOfAxis);
  if (slots_ > 2 && height * lanes > 26) {
    svg.text(kLeft - 8, top + height * lanes, "1", kRightOfAxis);
  }
  for (std::size_t i = 0; i < slot_lanes_.size(); ++i) {
    const double y = top + height * (lanes - 1 - real(i));
    svg.rectangle(kLeft, y, kColumns, height - 1, kLane);
    draw_lane(svg, slot_lanes_[i], y, height - 1, kSlot);
  }
}

void SweepPanel::draw_time_axis(Svg& svg, double top) const {
  const double length = window_.end - window_.start;
  const TimeUnit unit = unit_for(length);
  const double apart = round_step(length / unit.seconds, 8);
  const double first = std::ceil(window_.start / unit.seconds / apart) * apart;
  for (double time = first; time * unit.seconds <= window_.end * (1 + 1e-12); time += apart) {
    const double x = kLeft + column(time * unit.seconds);
    svg.vertical(x, top + 2, top + 7, {.stroke = kQuiet});
    svg.text(x, top + 20, tick_text(time), {.anchor = "middle", .size = 12});
  }
  svg.text(kLeft + kColumns / 2.0, top + 38, std::string("time, ") + unit.name,
           {.anchor = "middle", .size = 12});
}

}  // namespace anadrome::tool

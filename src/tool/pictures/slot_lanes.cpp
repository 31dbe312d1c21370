// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/slot_lanes.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "tool/number_text.h"
#include "tool/pictures/palette.h"

namespace anadrome::tool {
namespace {

constexpr double kGap = 14, kOnDiskHeight = 44, kSlotsHeight = 150;
constexpr std::int64_t kMostLanes = 40;
constexpr Letters kRightOfSlots = {.anchor = "end", .size = 12};

std::string count_text(double count) {
  return count >= 1e7 ? power_text(count) : format_fixed(count, 0);
}

}  // namespace

SlotLanes::SlotLanes(TimeWindow window, int columns, std::int64_t slots)
    : window_(window),
      columns_(columns),
      slots_(slots),
      lanes_(size(std::min(slots, kMostLanes)), Shares(size(columns))) {}

void SlotLanes::add(const questions::Held& held) {
  if (held.end < window_.start || held.start > window_.end) return;
  if (held.tier == schedule::kDiskTier) {
    on_disk_.resize(size(columns_));
    return add_to(on_disk_, held, 1);
  }
  const double per_lane = real(slots_) / real(std::ssize(lanes_));
  for (std::int64_t slot = held.slot; slot < std::min(held.slot + held.slots, slots_); ++slot) {
    const auto lane = static_cast<std::size_t>(real(slot) / per_lane);
    add_to(lanes_[std::min(lane, lanes_.size() - 1)], held, 1 / per_lane);
  }
}

void SlotLanes::add_to(Shares& lane, const questions::Held& held, double weight) const {
  const double scale = columns_ / window_.seconds();
  const double from = std::max((held.start - window_.start) * scale, 0.0);
  const double to = std::min<double>((held.end - window_.start) * scale, columns_);
  for (auto column = static_cast<std::size_t>(from); real(column) < to; ++column) {
    lane[column] += weight * (std::min(to, real(column + 1)) - std::max(from, real(column)));
  }
}

double SlotLanes::lane_height() const {
  constexpr double kMost = 12;
  return std::min(kMost, kSlotsHeight / real(std::ssize(lanes_)));
}

double SlotLanes::height() const {
  return (on_disk_.empty() ? 0 : kGap + kOnDiskHeight) +
         (lanes_.empty() ? 0 : kGap + lane_height() * real(std::ssize(lanes_)));
}

void SlotLanes::draw(Svg& svg, double left, double top) const {
  if (!on_disk_.empty()) {
    draw_on_disk(svg, left, top + kGap);
    top += kGap + kOnDiskHeight;
  }
  if (lanes_.empty()) return;
  top += kGap;
  const double height = lane_height();
  const auto lanes = real(std::ssize(lanes_));
  svg.text(left - 8, top + std::max(height, 10.0),
           slots_ == 1 ? "slot in RAM" : "RAM slot " + count_text(real(slots_)), kRightOfSlots);
  if (slots_ > 2 && height * lanes > 26)
    svg.text(left - 8, top + height * lanes, "1", kRightOfSlots);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    draw_lane(svg, lanes_[i], left, top + height * (lanes - 1 - real(i)));
  }
}

// In four shades, a run of equal columns at a time.
void SlotLanes::draw_lane(Svg& svg, const Shares& lane, double left, double top) const {
  constexpr int kShades = 4;
  constexpr double kLeast = 0.002;
  const double height = lane_height() - 1;
  svg.rectangle(left, top, columns_, height, kLane);
  std::vector<int> shades;
  for (const double share : lane) {
    const int shade = static_cast<int>(std::ceil(kShades * share - 1e-6));
    shades.push_back(share < kLeast ? 0 : std::clamp(shade, 1, kShades));
  }
  for (int shade = 1; shade <= kShades; ++shade) {
    if (std::find(shades.begin(), shades.end(), shade) == shades.end()) continue;
    svg.begin_path({.stroke = kSlot, .width = height, .opacity = 0.25 + 0.75 * shade / kShades});
    for (std::size_t x = 0; x < shades.size(); ++x) {
      if (shades[x] != shade) continue;
      std::size_t end = x + 1;
      while (end < shades.size() && shades[end] == shade) ++end;
      svg.move(left + real(x), top + height / 2);
      svg.right(real(end - x));
      x = end - 1;
    }
    svg.end_path();
  }
}

void SlotLanes::draw_on_disk(Svg& svg, double left, double top) const {
  const double most = std::max(1.0, *std::max_element(on_disk_.begin(), on_disk_.end()));
  svg.text(left - 8, top + 10, count_text(std::round(most)), kRightOfSlots);
  svg.text(left - 8, top + kOnDiskHeight, "on disk", kRightOfSlots);
  svg.begin_path({.fill = kOnDisk});
  svg.move(left, top + kOnDiskHeight);
  for (std::size_t x = 0; x < on_disk_.size(); ++x) {
    svg.line(left + real(x), top + kOnDiskHeight * (1 - on_disk_[x] / most));
  }
  svg.line(left + columns_, top + kOnDiskHeight);
  svg.close_shape();
  svg.end_path();
}

}  // namespace anadrome::tool

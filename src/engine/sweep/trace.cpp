// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/trace.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/index.h"

namespace anadrome::engine {

static_assert(std::is_trivially_copyable_v<TraceEvent>);
static_assert(sizeof(TraceEvent) == 40, "no padding");

namespace {

// Events of one lane in one cell, on one side of TURN, which become one per activity.
class Group {
 public:
  Group(const TraceEvent& event, double resolution, double turn)
      : lane_(lane_of(event.activity)),
        resolution_(resolution),
        turn_(turn),
        after_turn_(event.start >= turn),
        cell_(std::floor(event.start / resolution)),
        open_(lies_within(event)) {
    add(event);
  }
  bool takes(const TraceEvent& event) const {
    return open_ && lane_of(event.activity) == lane_ && lies_within(event);
  }
  void add(const TraceEvent& event) {
    for (TraceEvent& member : std::span(members_).first(count_)) {
      if (member.activity != event.activity) continue;
      member.end += event.end - event.start;
      member.first = std::min(member.first, event.first);
      member.last = std::max(member.last, event.last);
      return;
    }
    members_[count_++] = event;
  }
  /// In the order in which the activities first came up; none starts earlier than it did, and as
  /// events do not overlap, they fit between the group's start and its end.
  std::span<const TraceEvent> close() {
    double free_from = 0;
    for (TraceEvent& member : std::span(members_).first(count_)) {
      const double seconds = member.end - member.start;
      member.start = std::max(free_from, member.start);
      member.end = free_from = member.start + seconds;
    }
    return std::span(members_).first(count_);
  }

 private:
  bool lies_within(const TraceEvent& event) const {
    return (event.start >= turn_) == after_turn_ &&
           std::floor(event.start / resolution_) == cell_ &&
           std::floor(event.end / resolution_) == cell_;
  }

  std::array<TraceEvent, kActivities> members_;
  std::size_t count_ = 0;
  Lane lane_;
  double resolution_, turn_;
  bool after_turn_;
  double cell_;
  bool open_;  ///< an event that crosses the cell's end stays alone
};

}  // namespace

const char* to_string(Activity activity) {
  static constexpr std::array<const char*, kActivities> kNames = {
      "advance", "recompute", "adjoint", "visit",        "turn",         "copy",       "wait",
      "agree",   "write",     "read",    "forward pass", "reverse pass", "fast write", "fast read"};
  return kNames[index_of(activity)];
}

const char* to_string(Lane lane) {
  static constexpr std::array<const char*, kLanes> kNames = {"solver", "I/O", "passes", "fast I/O"};
  return kNames[index_of(lane)];
}

Trace::Trace(std::size_t most_events)
    : most_(std::max(most_events, kLeastEvents)), close_(most_ / 4) {
  events_.reserve(most_);
}

void Trace::clear() noexcept {
  events_.clear();
  oldest_ = 0;
  close_after_turn_ = 0;
  turn_ = kNotYet;
  merged_ = 0;
  resolution_ = 0;
}

void Trace::add(const TraceEvent& event) noexcept {
  if (!(event.start >= 0 && event.end >= event.start && std::isfinite(event.end))) return;
  if (event.activity == Activity::kTurn && turn_ == kNotYet) {
    turn_ = event.start;
    close_after_turn_ = close_ / 2;
  }
  const bool close = turn_ == kNotYet || close_after_turn_ > 0;
  if (close_after_turn_ > 0) --close_after_turn_;
  if (events_.size() < close_) {
    events_.push_back(event);
  } else if (close) {
    add_to_rest(std::exchange(events_[oldest_], event));
    oldest_ = (oldest_ + 1) % close_;
  } else {
    add_to_rest(event);
  }
}

void Trace::add_to_rest(const TraceEvent& event) noexcept {
  if (events_.size() == most_) thin();
  events_.push_back(event);
}

void Trace::thin() noexcept {
  const auto rest = std::span(events_).subspan(close_);
  std::sort(rest.begin(), rest.end(), [](const TraceEvent& a, const TraceEvent& b) {
    return std::tuple(lane_of(a.activity), a.start, a.end) <
           std::tuple(lane_of(b.activity), b.start, b.end);
  });
  if (resolution_ == 0) {
    double covered = 0;
    for (const TraceEvent& event : events_) covered = std::max(covered, event.end);
    resolution_ = std::max(covered / static_cast<double>(most_), 1e-9);
  }
  merge_cells();
  while (events_.size() > most_ - (most_ - close_) / 4) {
    resolution_ *= 2;
    merge_cells();
  }
}

// In place: a group of k events leaves at most k.
void Trace::merge_cells() noexcept {
  std::size_t kept = close_;
  const auto leave = [&](Group& group) {
    for (const TraceEvent& event : group.close()) events_[kept++] = event;
  };
  Group group(events_[close_], resolution_, turn_);
  for (std::size_t i = close_ + 1; i < events_.size(); ++i) {
    const TraceEvent event = events_[i];
    if (group.takes(event)) {
      group.add(event);
    } else {
      leave(group);
      group = Group(event, resolution_, turn_);
    }
  }
  leave(group);
  merged_ += static_cast<std::int64_t>(events_.size() - kept);
  events_.resize(kept);
}

}  // namespace anadrome::engine

// A sweep's events as a picture for a person (SVG, no script): what the solver did, what the I/O
// thread did beneath it, where the solver waited, and the way through the steps; the whole sweep,
// and the time around TURN closely. Its size does not grow with the number of events.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/text_out.h"
#include "engine/timeline_panel.h"
#include "engine/trace.h"

namespace anadrome::engine {

/// begin, add_rank for each rank, end; ranks come one at a time, the one that is to be drawn first
/// first. The picture goes to the sink in end. What the sink throws comes out.
class TimelineSvg {
 public:
  explicit TimelineSvg(TextOut::Sink sink) : out_(std::move(sink)) {}

  void begin(const TraceHeading& heading);
  /// `merged`: Trace::merged. Ranks beyond the first kMostRanks count in the sums only.
  void add_rank(int rank, std::span<const TraceEvent> events, std::int64_t merged);
  void end();

  static constexpr int kMostRanks = 4;

 private:
  void set_time(std::span<const TraceEvent> events);
  void draw_title();
  void draw_legend(double y);
  void draw_magnifier(const TimelinePanel::Style& whole, const TimelinePanel::Style& close);
  double mean_seconds(Activity activity) const;

  TextOut out_;
  TraceHeading heading_;
  int ranks_added_ = 0;
  std::int64_t merged_ = 0;
  std::array<double, kActivities> seconds_ = {};  ///< sums over ranks
  std::optional<double> turn_;
  std::optional<TimelinePanel> whole_, close_;
};

}  // namespace anadrome::engine

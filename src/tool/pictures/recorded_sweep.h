// SPDX-License-Identifier: BSD-2-Clause
// A sweep as the option trace= wrote it down: events of the first ranks, and what all ranks took
// together. The file is Chrome trace JSON (engine/sweep/trace_json.h) and untrusted; it may be much
// larger than memory.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/text_out.h"
#include "tool/pictures/timeline_columns.h"

namespace anadrome::tool {

struct RecordedRank {
  int number = 0;
  std::vector<TraceEvent> events;
};

struct RecordedSweep {
  engine::TraceHeading heading;
  std::vector<RecordedRank> first_ranks;         ///< at most kMostRanks, as they come in the file
  int ranks = 0;                                 ///< that have events, or are named
  std::array<double, kActivities> seconds = {};  ///< sums over all ranks
  std::int64_t merged = 0;                       ///< events that do not stand on their own any more

  static constexpr std::size_t kMostRanks = 4;
};

/// Throws ERR_ARGUMENT, naming `name`, where `file` is not what trace= writes.
RecordedSweep read_trace(std::istream& file, const std::string& name);

/// Lanes of the first ranks; the others count in the sums only. Throws what the sink of `out`
/// throws.
void draw_timeline(const RecordedSweep& sweep, TextOut& out);

}  // namespace anadrome::tool

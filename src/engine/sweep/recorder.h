// SPDX-License-Identifier: BSD-2-Clause
// The events of a run in time, for the option trace; keeps copies and waits apart in any case.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "engine/ranks/agreement.h"
#include "engine/sweep/trace.h"
#include "store/tiers/tier.h"

namespace anadrome::engine {

/// All ranks of few, and of more these: those whose steps took the most and the least time, and
/// others at equal distances, the first and the last among them.
struct RanksInTrace {
  static constexpr int kMost = 64;
  int ranks = 1, slowest = 0, quickest = 0;
  bool has(int rank) const;
};

class Recorder final : public store::TierObserver {
 public:
  /// Memory for a trace, if one is wanted. Throws std::bad_alloc.
  void prepare(bool wanted);
  /// The sweep starts now: this is the zero of all times.
  void start(double now);
  bool on() const { return trace_.has_value(); }

  /// Times on the monotonic clock.
  void add(Activity activity, double start, double end, std::int64_t first, std::int64_t last) {
    if (trace_) trace_->add({start - zero_, end - zero_, first, last, activity, {}});
  }
  void waited(double start, double end) override;
  void moved(const store::Transfer& transfer, std::int64_t first, std::int64_t last) override;

  /// Where the part of something that began at `start` begins that follows its waits.
  double after_waits(double start) const { return std::max(start, last_wait_end_); }

  /// The events of the ranks that RanksInTrace says, to the file `path`, as Chrome trace JSON.
  /// Collective; throws on rank 0.
  void write(Agreement& agreement, const std::string& path, const TraceHeading& heading);

 private:
  RanksInTrace choose(Agreement& agreement) const;

  std::optional<Trace> trace_;
  double zero_ = 0;
  double last_wait_end_ = 0;
};

}  // namespace anadrome::engine

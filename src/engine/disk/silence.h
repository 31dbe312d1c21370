// SPDX-License-Identifier: BSD-2-Clause
// How long a rank has been silent, by the clock of the one who listens.
//
// Clocks of hosts need not agree: only whether a heartbeat differs from the last one counts. And
// who was stopped or busy himself has not listened: no look counts for more than two periods.
#pragma once

#include <algorithm>
#include <cstdint>

namespace anadrome::engine {

class Silence {
 public:
  Silence() = default;
  Silence(double limit, double period) : limit_(limit), most_(2 * period) {}

  /// A look `seconds` after the one before; `beat`: the newest heartbeat, 0 if none was there.
  void look(double seconds, std::int64_t beat) {
    if (beat != beat_) {
      beat_ = beat;
      seconds_ = 0;
    } else {
      seconds_ += std::min(seconds, most_);
    }
  }
  double seconds() const { return seconds_; }
  bool too_long() const { return seconds_ >= limit_; }

 private:
  double limit_ = 0, most_ = 0, seconds_ = 0;
  std::int64_t beat_ = 0;
};

}  // namespace anadrome::engine

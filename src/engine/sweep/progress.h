// SPDX-License-Identifier: BSD-2-Clause
// The progress line of option `progress`, on standard error, by one rank: a terminal's is written
// anew a few times a second; a log gets lines that grow rarer, some hundred in ten hours.
#pragma once

#include <cstdint>
#include <string>

namespace anadrome::engine {

class Progress {
 public:
  void start(bool on);
  bool on() const { return on_; }
  /// Is it time to say something? Cheap enough to ask at every action.
  bool due(double now) const { return on_ && now >= next_; }
  /// `done` and `left` are seconds of work; left < 0: not known.
  void show(double now, bool reverse, std::int64_t step, std::int64_t steps, double done,
            double left);
  void finish();

 private:
  bool on_ = false;
  bool terminal_ = false;
  double start_ = 0, next_ = 0;
  std::size_t width_ = 0;
};

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// The clock that every plan is timed by: a solver, and beside it a link to a slower memory, which
// serves its queue in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "schedule/action.h"
#include "schedule/interval.h"

namespace anadrome::schedule {

/// What takes time: the first three and waiting the solver's, the others the link's.
enum class Doing : std::uint8_t { kAdvance, kRecompute, kAdjoint, kWait, kWrite, kRead };

/// From `start` to `end` the solver went from step `first` to `last`, or the link moved x_first.
template <class Time>
struct Span {
  Doing doing = Doing::kAdvance;
  Time start = 0, end = 0;
  std::int64_t first = 0, last = 0;

  std::int64_t step() const { return std::min(first, last); }
};

/// `Time`: seconds, or whole ticks where all ranks must reckon alike.
template <class Time>
class Clock {
 public:
  Time now() const { return now_; }
  /// All that was queued is done.
  Time link_free() const { return link_free_; }

  void compute(Time duration) { now_ += duration; }
  void wait(Time until) { now_ = std::max(now_, until); }
  /// Queues a transfer that may begin at `from`. Returns when it is done.
  Time transfer(Time duration, Time from) {
    link_free_ = std::max(link_free_, from) + duration;
    return link_free_;
  }

 private:
  Time now_ = 0, link_free_ = 0;
};

/// Rooms in memory whose states were given up, and are still to be written or read until then.
template <class Time>
class BusyRooms {
 public:
  void add(const Room& room, Time until) {
    if (room.units > 0) rooms_.push_back({room, until});
  }
  /// When the room is free; it is another state's from then on.
  Time free_at(const Room& room, Time now) {
    Time free = now;
    std::erase_if(rooms_, [&](const Busy& busy) {
      const bool meets = busy.room.begin < room.begin + room.units &&
                         room.begin < busy.room.begin + busy.room.units;
      if (meets) free = std::max(free, busy.until);
      return meets || busy.until <= now;
    });
    return free;
  }

 private:
  struct Busy {
    Room room;
    Time until;
  };
  std::vector<Busy> rooms_;
};

/// How states get to disk and back where a schedule does not say when: under the computation, if
/// that is possible at all.
struct DiskUse {
  bool overlaps = true;      ///< transfers can run under the computation
  std::int64_t buffers = 1;  ///< states that can wait to be written, with the one being written
  bool reads_ahead = true;   ///< there is memory to read the next state from disk into
};

class DiskClock : public Clock<double> {
 public:
  DiskClock(const StepCosts& costs, const DiskUse& use) : costs_(costs), use_(use) {}

  void write() {
    if (!use_.overlaps) return wait(transfer(costs_.write, now()));
    const auto others = static_cast<double>(std::max<std::int64_t>(use_.buffers - 1, 0));
    compute(costs_.write_taken);
    wait(link_free() - others * costs_.write);
    transfer(costs_.write, now());
  }
  /// `since`: when there was room to read it into.
  void read(double since) {
    const bool ahead = use_.overlaps && use_.reads_ahead;
    const double done = transfer(costs_.read, ahead ? since : now());
    if (use_.overlaps) compute(costs_.read_taken);
    wait(done);
  }

 private:
  StepCosts costs_;
  DiskUse use_;
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The clock that every plan is timed by: a solver, and beside it a link to a slower memory, which
// serves its queue in order; or two of them, where a run has two volumes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/index.h"
#include "schedule/words/action.h"
#include "schedule/words/costs.h"
#include "schedule/words/two_volumes.h"

namespace anadrome::schedule {

/// What takes time: the first three and waiting the solver's, the others the link's.
enum class Doing : std::uint8_t { kAdvance, kRecompute, kAdjoint, kWait, kWrite, kRead };

/// From `start` to `end` the solver went from step `first` to `last`, or the link moved x_first.
template <class Time>
struct Span {
  Doing doing = Doing::kAdvance;
  Time start = 0, end = 0;
  std::int64_t first = 0, last = 0;
  int link = 0;

  std::int64_t step() const { return std::min(first, last); }
};

/// `Time`: seconds, or whole ticks where all ranks must reckon alike.
template <class Time>
class Clock {
 public:
  Time now() const { return now_; }
  /// All that was queued is done.
  Time link_free(int link = 0) const { return link_free_[at(link)]; }

  void compute(Time duration) { now_ += duration; }
  void wait(Time until) { now_ = std::max(now_, until); }
  /// Queues a transfer that may begin at `from`. Returns when it is done.
  Time transfer(Time duration, Time from, int link = 0) {
    Time& free = link_free_[at(link)];
    free = std::max(free, from) + duration;
    return free;
  }

 private:
  Time now_ = 0;
  std::array<Time, 2> link_free_ = {};
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
  bool overlaps = true;          ///< transfers can run under the computation
  std::int64_t buffers = 1;      ///< states that can wait to be written, with the one being written
  std::int64_t reads_ahead = 1;  ///< there is memory to read so many states from disk into
};

/// A fast volume beside home, whose link is the second one.
struct FastVolume {
  VolumeCosts costs;
  std::int64_t room = 0;  ///< states
  double turn = 0;        ///< when it is expected
};

class DiskClock : public Clock<double> {
 public:
  DiskClock(const StepCosts& costs, const DiskUse& use, const std::optional<FastVolume>& fast = {})
      : costs_(costs), use_(use), fast_(fast) {}

  /// Returns the link that the next state is written by, as a run chooses it. Without x_0, which
  /// goes to both.
  int link_of_next(std::int64_t step) {
    if (!fast_) return 0;
    const double busy = link_free() - now();
    const std::int64_t under_way = busy > costs_.write ? 2 : busy > 0 ? 1 : 0;
    const bool due = choice_.is_for_home(now(), fast_->turn - now(), costs_.write, under_way) ||
                     fast_->room <= 0;
    if (due && step > 0) choice_.went_home();
    if (!due || step == 0) --fast_->room;
    return due && step > 0 ? 0 : 1;
  }
  double write_seconds(int link) const { return link == 0 ? costs_.write : fast_->costs.write; }
  double read_seconds(int link) const { return link == 0 ? costs_.read : fast_->costs.read; }

  void write(int link = 0) {
    const double seconds = write_seconds(link);
    if (!use_.overlaps) return wait(transfer(seconds, now(), link));
    const auto others = real(std::max<std::int64_t>(use_.buffers - 1, 0));
    compute(costs_.write_taken);
    wait(link_free(link) - (has_its_own(link) ? 1 : others) * seconds);
    transfer(seconds, now(), link);
  }
  /// TURN: memory for the steps that follow the newest state is free, so few are still to be
  /// written.
  void turn(int link = 0) {
    if (!use_.overlaps || has_its_own(link)) return;
    const auto stay = real(use_.reads_ahead + 1);
    wait(link_free(link) - stay * write_seconds(link));
  }
  /// `since`: when there was room to read it into.
  void read(double since, int link = 0) {
    const bool ahead = use_.overlaps && (use_.reads_ahead > 0 || has_its_own(link));
    const double done = transfer(read_seconds(link), ahead ? since : now(), link);
    if (use_.overlaps) compute(costs_.read_taken);
    wait(done);
  }

 private:
  /// A block of memory for what goes home or comes from there.
  bool has_its_own(int link) const { return fast_ && link == 0; }

  StepCosts costs_;
  DiskUse use_;
  std::optional<FastVolume> fast_;
  VolumeChoice choice_;
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Two volumes that take anchors side by side: a fast one beside the run's home. Pure arithmetic.
//
// An anchor is written once, to the one or to the other. So the two rates add, and so do the rooms:
// in the time T home takes min(T / w_h, room) states and the fast volume min(T / w_f, room).
// Anchors of both are spread over the whole sweep: then each volume has between two of its own as
// long for a read as it had for a write.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/index.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

/// Seconds, where the number of steps is not known.
inline constexpr double kForEver = 1e18;

/// Seconds of a state on its way to a volume and back.
struct VolumeCosts {
  double write = 0, read = 0;
};

/// The one volume that writes as many states in a time as these two together, and reads them with
/// the same shares.
inline VolumeCosts side_by_side(const VolumeCosts& home, const VolumeCosts& fast) {
  const double write = 1 / (1 / home.write + 1 / fast.write);
  return {write, std::max(home.read * write / home.write, fast.read * write / fast.write)};
}

/// States that both have room for, where home takes one in `home_write` seconds, of `seconds`:
/// those until TURN, without those in which home is busy with what it has already, as with x_0 at
/// first.
inline std::int64_t room_of_both(std::int64_t home, std::int64_t fast, double home_write,
                                 double seconds) {
  constexpr double kMost = 1e15;
  if (home_write > 0) {
    home = std::min(home, static_cast<std::int64_t>(std::clamp(seconds / home_write, 0.0, kMost)));
  }
  return home >= kMostSteps - fast ? kMostSteps : home + fast;
}

/// Where the next block goes: home as often as home can take one, else to the fast volume. What is
/// not there before TURN would be waited for soon after it, so the last ones are not for home. All
/// that it is told was agreed on, so all ranks decide the same.
class VolumeChoice {
 public:
  /// At `now` seconds after the sweep began, with so many until TURN. `write`: of a block to home,
  /// as far as it is known. `under_way`: blocks that are being written there.
  bool is_for_home(double now, double until_turn, double write, std::int64_t under_way) {
    constexpr double kMostDue = 2;  // what was missed longer ago is not made up for
    constexpr std::int64_t kMostUnderWay = 2;
    if (write > 0) due_ = std::min(due_ + (now - seen_) / write, kMostDue);
    seen_ = now;
    const bool in_time = real(under_way + 1) * write <= until_turn;
    return due_ >= 1 && under_way < kMostUnderWay && in_time;
  }
  /// One went there.
  void went_home() { due_ -= 1; }

 private:
  double seen_ = 0;
  double due_ = 0;  ///< blocks that home could have taken since, and did not get
};

}  // namespace anadrome::schedule

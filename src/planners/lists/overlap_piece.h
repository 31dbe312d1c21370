// SPDX-License-Identifier: BSD-2-Clause
// The pieces of plans with overlapped transfers: moves that name states by their step relative to a
// base, and a timeline that gives them slots and times.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "planners/lists/clock.h"
#include "planners/lists/overlapped.h"

namespace anadrome::schedule {

struct OverlapMove {
  OverlapKind kind;
  std::int32_t first;
  std::int32_t last;  ///< kAdvance only
};

/// In a piece, the anchor before the base: the one that is read ahead.
inline constexpr std::int32_t kPrevious = -1;

/// The reversal of an interval, base included. It begins with the base live and in a slot, and ends
/// with all of its steps adjoined and kPrevious, if there is one, in a slot.
using OverlapPiece = std::vector<OverlapMove>;

/// Plays moves on the machine of overlapped.h. A state goes to the slot that is free first.
class Timeline {
 public:
  /// `actions` may be null: then only time is told.
  Timeline(std::int64_t slots, const OverlapTimes& times, std::vector<OverlapAction>* actions);

  /// `last`: kAdvance only.
  void act(OverlapKind kind, std::int64_t step, std::int64_t last = 0);
  void play(const OverlapPiece& piece, std::int64_t base, std::int64_t previous);
  /// Intervals of these lengths, each from an anchor that is written; the last one is entered
  /// directly. `piece(i)`: the reversal of interval i.
  void play_intervals(const std::vector<std::int64_t>& lengths,
                      const std::function<const OverlapPiece&(std::size_t)>& piece);

  double now() const { return clock_.now(); }

 private:
  struct Held {
    std::int32_t slot;
    double ready;       ///< the state is there
    double busy_until;  ///< the state is being written until then
  };

  std::pair<double, std::int32_t> take_free_slot();
  Held& held(std::int64_t step);

  OverlapTimes times_;
  std::vector<OverlapAction>* actions_;
  Clock<double> clock_;
  std::set<std::pair<double, std::int32_t>> free_;  ///< since or from when, slot
  std::int64_t most_slots_, slots_used_ = 0;        ///< slots with a number, the lowest ones
  std::unordered_map<std::int64_t, Held> held_;
};

}  // namespace anadrome::schedule

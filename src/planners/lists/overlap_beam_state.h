// SPDX-License-Identifier: BSD-2-Clause
// A state of the machine of overlapped.h between two moves of the processor, as the beam search
// sees it. Positions count from the base's, which is 1; 0 is kPrevious.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>

#include "base/index.h"
#include "planners/lists/clock.h"
#include "planners/lists/overlap_beam.h"

namespace anadrome::schedule {

struct BeamSlot {
  std::int32_t position = -1;  ///< or -1: free, at once or from `busy_until` on
  double ready = 0;            ///< the state is there from then on
  double busy_until = 0;       ///< the state is being written until then
};

/// The moves from one state to the next; a transition has few.
struct BeamMoves {
  static constexpr std::size_t kMost = 16;
  std::array<OverlapMove, kMost> moves;
  std::size_t count = 0;

  bool full() const { return count + 4 > kMost; }
  void add(OverlapKind kind, std::int32_t position, std::int32_t last = 0) {
    moves[count++] = {kind, position - 1, last - 1};
  }
};

struct BeamState {
  Clock<double> clock;
  double expected = 0;     ///< end of the plan, as estimated
  std::int32_t left = 0;   ///< positions below this one are still to be adjoined
  std::int32_t live = -1;  ///< position of the live state
  std::int32_t parent = -1;
  std::uint64_t places = 0;  ///< a hash of what is in slots and on disk, whichever the slots
  std::array<BeamSlot, kMostBeamSlots> slots;
  std::bitset<kMostBeamSteps + 2> on_disk;  ///< or queued for it: the queue is served in order
  BeamMoves moves;                          ///< that lead here from `parent`

  int slot_of(std::int32_t position, int slot_count) const {
    for (int i = 0; i < slot_count; ++i) {
      if (slots[at(i)].position == position) return i;
    }
    return -1;
  }
  BeamSlot& slot(int i) { return slots[at(i)]; }
  const BeamSlot& slot(int i) const { return slots[at(i)]; }
  bool disk(std::int32_t position) const { return on_disk[at(position)]; }

  /// The value that `places` should have.
  std::uint64_t hash_of_places(int slot_count) const {
    std::uint64_t in_slots = 0;
    for (int i = 0; i < slot_count; ++i) {
      std::uint64_t mixed = static_cast<std::uint64_t>(slot(i).position + 2) * 0x9e3779b97f4a7c15U;
      mixed ^= mixed >> 29;
      in_slots += mixed * 0xbf58476d1ce4e5b9U;
    }
    return in_slots ^ (std::hash<std::bitset<kMostBeamSteps + 2>>()(on_disk) * 0x94d049bb133111ebU);
  }

  void drop(int i) {
    moves.add(OverlapKind::kDrop, slot(i).position);
    slot(i).position = -1;
  }
  void keep(int i, double free_from) {
    clock.wait(free_from);
    slot(i) = {live, 0, 0};
    moves.add(OverlapKind::kKeep, live);
  }
  void write(int i, double seconds) {
    slot(i).busy_until = clock.transfer(seconds, clock.now());
    on_disk.set(size(slot(i).position));
    moves.add(OverlapKind::kWrite, slot(i).position);
  }
  void read(int i, double free_from, std::int32_t position, double seconds) {
    slot(i) = {position, clock.transfer(seconds, std::max(clock.now(), free_from)), 0};
    moves.add(OverlapKind::kRead, position);
  }
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// What a distance between anchors costs, and where the tail begins: pure arithmetic on measured
// times.
// Asynchronous multistage checkpointing (Kukreja, Hueckelheim & Gorman 2018, arXiv 1806.01117).
#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/words/costs.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

/// Which transfers run under the computation.
struct Overlap {
  bool writes = true, reads = true;
};

/// Advances, recorded steps not counted, that reverse `steps` steps from an anchor with `slots`
/// slots, the anchor's own included: Revolve's, or with kept tapes of `tape_units` slots
/// MixedPlanner's.
uint128 advances_from_anchor(std::int64_t steps, std::int64_t slots, std::int64_t tape_units);

/// Predicted seconds per step of a sweep with an anchor every `interval` steps and `slots` slots
/// between anchors.
double seconds_per_step(const StepCosts& costs, std::int64_t interval, std::int64_t slots,
                        Overlap overlap, std::int64_t tape_units = 0);

/// The interval that minimises seconds_per_step, in [least, most]. The published choice is
/// ceil(write / forward), where the forward sweep never waits; with few slots a shorter one, which
/// waits a little and recomputes less, can be cheaper.
std::int64_t best_interval(const StepCosts& costs, std::int64_t slots, Overlap overlap,
                           std::int64_t least, std::int64_t most, std::int64_t tape_units = 0);

/// Memory that is shared by checkpoints and by blocks that are read ahead.
struct SharedMemory {
  std::int64_t blocks = 1;            ///< P
  std::int64_t states_per_block = 1;  ///< B
  bool overlaps = true;               ///< transfers can run under the computation at all
  std::int64_t tape_units = 0;        ///< slots of a kept tape; 0: tapes are not kept
  std::int64_t most_slots = std::int64_t{1} << 62;  ///< even if more would fit
  std::int64_t slots_per_state = 1;  ///< so many lie where a block has room for a state
  std::int64_t slots_elsewhere = 0;  ///< in memory of their own; 0: they are in these blocks
  /// s = (P - d - 1) B + 1: one block holds the current interval's anchor, d those to come.
  std::int64_t slots(std::int64_t depth) const {
    const std::int64_t left = (blocks - depth - 1) * states_per_block * slots_per_state + 1;
    return std::min(slots_elsewhere > 0 ? slots_elsewhere : left, most_slots);
  }
  static constexpr std::int64_t kDeepest = 4;
  /// So many blocks are read ahead at most.
  std::int64_t deepest() const { return overlaps ? std::min(kDeepest, blocks - 1) : 0; }
};

struct AsyncPlan {
  std::int64_t interval = 1;
  std::int64_t prefetch_depth = 0;
  std::int64_t slots = 1;
  double seconds_per_step = 0;
  bool ends_in_ram = false;  ///< no further anchor
};

/// Of plans as close as this the one that reads further ahead is taken: transfers do not all take
/// the same time.
inline constexpr double kAlike = 1.005;

/// The interval and the prefetch depth that go best together.
AsyncPlan best_plan(const StepCosts& costs, const SharedMemory& memory, std::int64_t least,
                    std::int64_t most);

/// No further anchor: the `steps` steps that follow the newest one are reversed from the memory
/// that reading ahead leaves. best_plan answers for many intervals; a short rest may be cheaper so.
AsyncPlan plan_in_ram(const StepCosts& costs, const SharedMemory& memory, std::int64_t steps,
                      bool record, std::int64_t prefetch_depth);

/// The cost of a plan with other times than those it was made for.
double seconds_per_step(const StepCosts& costs, const SharedMemory& memory, const AsyncPlan& plan);

/// Advances beyond the first sweep over the last `steps` steps before TURN, when they are entered
/// directly (their checkpoints are placed as the forward sweep passes). With a tape, TURN does not
/// need the last state again; kept tapes are recorded in passing.
uint128 tail_steps(std::int64_t steps, std::int64_t slots, bool record,
                   std::int64_t tape_units = 0);
/// tail_steps, at most 2^63 - 1.
std::int64_t tail_advances(std::int64_t steps, std::int64_t slots, bool record,
                           std::int64_t tape_units = 0);

/// The longest distance to the end at which no further anchor is worth it: reversing that much from
/// RAM costs no more advances than an anchor `interval` steps on and the rest. At least `interval`.
std::int64_t longest_tail(std::int64_t interval, std::int64_t slots, bool record,
                          std::int64_t tape_units = 0);

}  // namespace anadrome::schedule

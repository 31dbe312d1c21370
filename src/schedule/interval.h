// How far apart anchors are put, and where the tail begins: pure arithmetic on measured times.
// Asynchronous multistage checkpointing (Kukreja, Hueckelheim & Gorman 2018, arXiv 1806.01117).
#pragma once

#include <cstdint>

namespace anadrome::schedule {

/// Seconds, the largest over all ranks.
struct StepCosts {
  double forward = 0;  ///< one forward step
  double adjoint = 0;  ///< one adjoint step, its own recomputation included
  double write = 0;    ///< one state to disk
  double read = 0;     ///< one state from disk
};

/// Predicted seconds per step of a sweep with an anchor every `interval` steps, `slots` slots for
/// Revolve, and I/O under the computation if `overlapped`.
double seconds_per_step(const StepCosts& costs, std::int64_t interval, std::int64_t slots,
                        bool overlapped);

/// The interval that minimises seconds_per_step, in [least, most]. The published choice is
/// ceil(write / forward), where the forward sweep never waits; with few slots a shorter one, which
/// waits a little and recomputes less, can be cheaper.
std::int64_t best_interval(const StepCosts& costs, std::int64_t slots, bool overlapped,
                           std::int64_t least, std::int64_t most);

/// Advances beyond the first sweep over the last `steps` steps before TURN, when they are entered
/// directly (their checkpoints are placed as the forward sweep passes). With a tape, TURN does not
/// need the last state again.
std::int64_t tail_advances(std::int64_t steps, std::int64_t slots, bool record);

/// The longest distance to the end at which no further anchor is worth it: reversing that much from
/// RAM costs no more advances than an anchor `interval` steps on and the rest. At least `interval`.
std::int64_t longest_tail(std::int64_t interval, std::int64_t slots, bool record);

}  // namespace anadrome::schedule

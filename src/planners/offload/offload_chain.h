// SPDX-License-Identifier: BSD-2-Clause
// A chain of uneven steps whose states may go to a slow memory and back while the solver computes
// (Beaumont et al., Euro-Par 2020; Beaumont, Eyraud-Dubois & Shilova, NeurIPS 2021).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planners/lists/clock.h"

namespace anadrome::schedule {

/// Longer chains are refused: searching would take too long.
inline constexpr std::int64_t kMostOffloadedSteps = 20'000;

/// x_k of k = 0 .. n-1; times in any unit. Step k makes x_{k+1} of x_k; the adjoint of step k needs
/// x_k, and runs the step once more itself.
struct OffloadChain {
  std::vector<std::int64_t> forward;  ///< of steps 0 .. n-2: the last is run by its adjoint only
  std::vector<std::int64_t> adjoint;  ///< of steps 0 .. n-1
  std::vector<std::int64_t> state_units;  ///< >= 0
  std::vector<std::int64_t> write, read;  ///< of each state
  std::int64_t fast_memory = 0;           ///< for all states that are resident or on their way in
  bool full_duplex = false;               ///< a write and a read may go on at a time

  std::int64_t steps() const { return std::ssize(adjoint); }
};

/// How a state is treated after the first sweep passed it.
enum class Fate : std::uint8_t { kKeep, kOffload, kDiscard };

struct OffloadOp {
  bool adjoint = false;
  bool drop = false;      ///< after a forward step: x_step is not needed any more
  std::int64_t step = 0;  ///< the first sweep, then runs: forward steps again, and adjoints
};

struct OffloadTransfer {
  std::int64_t state = 0;
  std::int64_t gate = 0;  ///< not before the solver gets to this op
};

/// The operations of the solver and the transfers of the link beside it, each in their order.
struct OffloadLists {
  std::vector<OffloadOp> ops;
  std::vector<OffloadTransfer> writes, reads;  ///< on one link: the writes first
};

/// An event of a state, in the order of time: it was made by a forward step (or by nobody, x_0), a
/// step or its adjoint began from it, that adjoint ended, it gave up its room, it began to move.
struct OffloadEvent {
  enum class What : std::uint8_t { kMade, kForward, kAdjoint, kAdjoined, kLeft, kWrite, kRead };
  What what = What::kMade;
  std::int64_t state = 0;
};

struct OffloadRun {
  std::int64_t makespan = -1;  ///< -1: it comes to a standstill
  std::int64_t most_units = 0;
  std::vector<Span<std::int64_t>> spans;  ///< if asked for
  std::vector<OffloadEvent> events;
};

/// Throws ERR_ARGUMENT on lengths that do not match, negative numbers, or sums above 2^60.
void check(const OffloadChain& chain);

/// Plays the lists: the solver goes first, then the link, each as soon as it can. A written state
/// makes room unless the solver is on it; a transfer is left out if the state is resident, or its
/// adjoint has begun. O(ops).
OffloadRun play(const OffloadChain& chain, const OffloadLists& lists, bool with_spans = false);

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The abstract question to a schedule, that of the papers: n steps, x_0 live; the adjoint of a step
// needs its state and runs the step once more, recording. A run of n steps is that problem with
// n + 1 steps, since TURN plays the part of one more; with a tape, with n steps.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "schedule/words/action.h"
#include "schedule/words/revolve.h"
#include "tool/number_text.h"

namespace anadrome::tool {

using schedule::kNoLimit;

/// Exact costs: value / 10^digits each.
struct Prices {
  Decimal advance{1, 0};  ///< uf
  Decimal adjoint{0, 0};  ///< ub: with its recording step
  Decimal write{0, 0}, read{0, 0};

  int digits() const;  ///< the most of the four
};

struct Problem {
  std::int64_t steps = 0;
  std::int64_t slots = 1;                ///< states in RAM, x_0 among them
  std::int64_t disk_slots = 0;           ///< states on disk at a time; kNoLimit
  std::int64_t interval = 0;             ///< async: steps between anchors; 0: whatever is best
  std::int64_t most_anchors = kNoLimit;  ///< async
  bool all_anchors = false;              ///< async: up to the end
  bool record = false;  ///< the adjoint reads a tape: its step is recorded on its own before
  std::int64_t tape_slots = 0;  ///< a kept tape takes so many slots; 0: tapes are not kept
  bool tape_restarts = false;   ///< the tape of step k holds x_{k+1}
  bool quickly = false;         ///< overlapped: a plan for a comparison, on a disk of any size
  Prices prices;
  /// Costs of step k, and bytes of x_k; `slots` are bytes then. Empty: all are alike.
  std::vector<Decimal> step_costs;
  std::vector<std::int64_t> state_bytes;

  int digits() const;  ///< after the point, of all that is added up
};

/// How often a schedule does what costs.
struct Counts {
  uint128 advances = 0;  ///< steps that are run without recording them
  uint128 recorded = 0;  ///< steps that are run and recorded apart from their adjoint
  uint128 writes = 0, reads = 0;
  /// Steps that differ in cost: what the advances cost, in units of 10^-digits.
  bool uneven = false;
  uint128 advance_cost = 0;
  /// Overlapped transfers: the cost of it all, which is not the sum of its parts.
  bool overlapped = false;
  double makespan = 0;
};

/// (advances + recorded) uf + writes W + reads R + n ub, in units of 10^-digits. Throws
/// ERR_ARGUMENT if that takes more than 128 bits.
uint128 cost_of(const Problem& problem, const Counts& counts);

/// The next action, one at a time; Done: there is none.
using ActionSource = std::function<schedule::Action()>;

template <class Visitor>
void each_action(const ActionSource& next, const Visitor& visit) {
  for (schedule::Action action = next(); !std::holds_alternative<schedule::Done>(action);
       action = next()) {
    std::visit(visit, action);
  }
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// Branches that meet in one objective and share one pool of slots (Beaumont, Herrmann, Pallez &
// Shilova, Phil. Trans. R. Soc. A 2020): which states the forward sweep keeps, and in which order
// the segments between them are reversed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/words/revolve.h"

namespace anadrome::schedule {

/// Branch i takes x_{i,0} to its end in steps[i] steps. The turn needs all ends at once; then the
/// steps of each branch are reversed, from its last one down, the branches interleaved at will.
/// Every state takes a slot of the pool, the one under way too.
struct JoinProblem {
  std::vector<std::int64_t> steps;  ///< >= 1 each
  std::int64_t slots = 1;
  /// The states x_{i,0} hold slots from the start; false: they come from elsewhere at no cost.
  bool charged_inputs = false;
  /// The ends, until the turn has seen them, are in buffers of their own beside the pool.
  bool ends_apart = false;
  /// The state under way is beside the pool, in the caller's arrays, as in a run. An end takes a
  /// slot all the same until the turn, which visits one end after the other.
  bool live_apart = false;

  std::int64_t branches() const { return std::ssize(steps); }
  std::int64_t sum() const;
  /// Branches in the order of sign * steps, equals in their own.
  std::vector<std::int64_t> by_steps(std::int64_t sign) const;
  /// States that can be there at a time, the one under way included, once the ends have made room.
  std::int64_t room() const { return slots + (live_apart ? 1 : 0); }
  /// Slots for states within the branches, at the turn; negative: it cannot be done.
  std::int64_t most_cuts() const {
    return slots - (ends_apart ? 0 : branches()) - (charged_inputs ? branches() : 0);
  }
};

/// Throws ERR_ARGUMENT unless there is a branch, lengths are 1 .. 2^31, and the slots suffice.
void check(const JoinProblem& problem);

/// The reversal of `begin` .. `end` of a branch, from the state at its begin, with `free` slots.
struct JoinSegment {
  std::int64_t branch = 0, begin = 0, end = 0;
  std::int64_t free = 0;
};

struct JoinPlan {
  uint128 advances = 0;               ///< those of the one forward sweep included
  std::vector<JoinSegment> segments;  ///< in the order in which they are reversed
  bool exact = false;
};

/// The cost of the segments in this order; nothing if one of them finds no slot to go on in. Notes
/// in each how many it finds free.
std::optional<uint128> price(const JoinProblem& problem, std::vector<JoinSegment>& segments);

/// Exact, by dynamic programming over what is left of each branch, where its table has at most
/// `most_entries` entries; otherwise branch by branch. Throws as check().
JoinPlan plan_join(const JoinProblem& problem, std::int64_t most_entries = std::int64_t{1} << 22);

/// The plan of a run: the fewest advances where no step need be run more than twice, otherwise as
/// above with tables of up to `most_bytes`, made within a second or so.
JoinPlan plan_join_within(const JoinProblem& problem, std::int64_t most_bytes);

/// An objective of small observables of the ends: one sweep through every branch stores them, and
/// each branch is reversed alone, in the whole pool.
JoinPlan plan_reducible_join(const JoinProblem& problem);

/// For joins whose exact table is too large: branch after branch, the shortest or the longest
/// first, with the best cuts for that; a few per cent off at most where exact plans were compared.
/// Tables take up to `most_bytes`, or 128 bytes per branch if that is more. Empty: it cannot be
/// done.
std::vector<JoinSegment> join_branch_by_branch(const JoinProblem& problem, std::int64_t most_bytes);

}  // namespace anadrome::schedule

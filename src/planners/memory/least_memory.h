// SPDX-License-Identifier: BSD-2-Clause
// The least memory for a reversal that runs no step more than twice (Hong et al. 2025, arXiv
// 2502.12499): which states of uneven size the first sweep keeps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/words/placement.h"

namespace anadrome::schedule {

enum class Accounting : std::uint8_t {
  kReleased,  ///< a kept state is given up once it is passed
  /// As StackSweep plays it: likewise, and the states at a segment's end take no room in it, since
  /// the last one was given up before and the one before that is live.
  kPlayed,
};

struct ChainSizes {
  std::vector<std::int64_t> bytes;  ///< of x_0 .. x_n, >= 0
  std::int64_t steps() const { return std::ssize(bytes) - 1; }
};

struct LeastMemory {
  std::int64_t peak = 0;
  std::int64_t lower_bound = 0;    ///< no choice needs less; peak where that was found out in time
  std::vector<std::int64_t> kept;  ///< rising, beside x_0
};

/// O(n log(sum of bytes)). Throws ERR_ARGUMENT unless 1 <= n < 2^31, on negative sizes, and if they
/// add up to more than 2^60.
LeastMemory least_memory(const ChainSizes& sizes, Accounting accounting);

/// The same where kept states stay to the end: the peak is c_0 + all kept + the largest segment
/// beside them. O(n) for each bound on the largest segment that is tried: all that matter while
/// they are few, otherwise until `most_visits` states were looked at, the most promising first.
LeastMemory least_static_memory(const ChainSizes& sizes,
                                std::int64_t most_visits = std::int64_t{1} << 27);

/// Steps for which a stream plans.
inline constexpr std::int64_t kMostLeastMemorySteps = std::int64_t{1} << 20;

/// The peak if all states are alike and take 1, as kPlayed says it.
std::int64_t least_slots(std::int64_t steps);
/// The planner of that.
std::unique_ptr<Planner> least_memory_of_equal_states(std::int64_t steps);

/// The two sweeps, for StackSweep without kept tapes: StackOptions::units must be the peak as
/// kPlayed says it, or more. Each segment is run again once, with every state of it kept. Where
/// TURN is a step (StackOptions::turn and no tapes), the chain has one step more, and x_{n+1} takes
/// nothing.
class LeastMemoryPlanner final : public Planner {
 public:
  /// `sizes` and `kept` as above; the plan of least_memory().
  LeastMemoryPlanner(std::vector<std::int64_t> bytes, std::vector<std::int64_t> kept);

  std::int64_t state_units(std::int64_t step) const override;
  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;

 private:
  std::vector<std::int64_t>::const_iterator first_above(std::int64_t step) const;

  std::vector<std::int64_t> bytes_, kept_;
};

}  // namespace anadrome::schedule

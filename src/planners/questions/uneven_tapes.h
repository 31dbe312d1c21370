// SPDX-License-Identifier: BSD-2-Clause
// States and tapes of uneven size in one memory, steps of uneven cost (the rotor recurrence,
// Beaumont et al. 2019): the best persistent plan, by dynamic programming.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace anadrome::questions {

struct UnevenTapes {
  std::vector<std::int64_t> forward, adjoint;  ///< of steps 0 .. n-1, >= 0
  std::vector<std::int64_t> state_units;       ///< of x_0 .. x_{n-1}, >= 0
  std::vector<std::int64_t> tape_units;        ///< of steps 0 .. n-1, >= 0
  std::int64_t units = 0;  ///< for kept states and tapes; the live state and tape are beside them

  std::int64_t steps() const { return std::ssize(forward); }
};

enum class TapesKind : std::uint8_t {
  kAdvance,  ///< from the live x_first to x_last
  kKeep,     ///< the live x_first, as a copy
  kRestore,  ///< x_first is live, and its copy is gone
  kTape,     ///< step first is run, its tape kept; x_{first+1} is live
  kRecord,   ///< step first is run, its tape is live
  kAdjoint,  ///< of step first, with its live tape, or its kept one, which is gone then
};

struct TapesAction {
  TapesKind kind = TapesKind::kAdvance;
  std::int64_t first = 0, last = 0;
};

struct UnevenTapesPlan {
  std::int64_t time = 0;  ///< of all forward and adjoint steps
  std::vector<TapesAction> actions;
};

/// Nothing if no plan fits. The memory is cut into at most `most_units` parts: sizes are rounded
/// up. O(n^3) times that many. Throws ERR_ARGUMENT on lengths that differ, negative numbers, sums
/// above 2^60 / n, and tables of more than 2^26 entries.
std::optional<UnevenTapesPlan> plan_uneven_tapes(const UnevenTapes& chain,
                                                 std::int64_t most_units = 256);

}  // namespace anadrome::questions

// SPDX-License-Identifier: BSD-2-Clause
// Reversal with transfers that run beside the computation: a whole plan, timed, for one processor,
// one disk and a number of RAM slots (docs/theory-async.md).
//
// The machine: a step takes `forward`; the adjoint of a step with the recording run of that step
// takes `adjoint`; one transfer at a time, and each moves one state. A state that is written holds
// its slot until it is on disk, a state that is read has its slot from the start. Copies between
// slots and the live state take no time, the live state is not a slot, and the disk has room.
#pragma once

#include <cstdint>
#include <vector>

namespace anadrome::schedule {

/// Seconds, the largest over all ranks.
struct OverlapTimes {
  double forward = 1;  ///< one forward step
  double adjoint = 1;  ///< one adjoint step, its own recording run included
  double write = 0;    ///< one state to disk
  double read = 0;     ///< one state from disk
};

enum class OverlapKind : std::uint8_t {
  kAdvance,  ///< run steps first .. last-1 from the live state x_first
  kKeep,     ///< copy the live state x_first into `slot`, once that is free
  kRestore,  ///< copy `slot`, which holds x_first, to the live state, once it has been read
  kDrop,     ///< `slot`, which held x_first, is free: at once, or when it has been written
  kWrite,    ///< queue the write of `slot`, which holds x_first
  kRead,     ///< queue the read of x_first into `slot`
  kAdjoint   ///< adjoint of step first; x_first is live, afterwards nothing is
};

/// To be carried out in the order of the list. A transfer is queued where it stands, and the disk
/// serves the queue in its order; nothing waits for it but what needs its slot.
struct OverlapAction {
  OverlapKind kind = OverlapKind::kAdvance;
  std::int32_t slot = -1;
  std::int64_t first = 0;
  std::int64_t last =
      0;  ///< with a slot: where the state lies, once it has a place (state_places.h)
};

struct OverlappedPlan {
  std::vector<OverlapAction> actions;
  double makespan = 0;  ///< seconds, from x_0 live to the end of the adjoint of step 0
};

/// A plan is a list of about five actions of 24 bytes per step: more steps than this are refused.
inline constexpr std::int64_t kMostOverlappedSteps = 1'000'000;

/// How long to look for a plan.
enum class OverlapSearch : std::uint8_t {
  kThorough,  ///< 0.2 to 2 seconds for up to 10^4 steps
  kQuick      ///< by Revolve and its like only: a few milliseconds, and as many per 10^4 steps
};

/// The best plan found to reverse `steps` steps with `slots` slots; never slower than Revolve.
/// Deterministic: the same on all ranks for the same arguments. Throws ERR_ARGUMENT on arguments
/// that make no sense.
OverlappedPlan plan_overlapped(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                               OverlapSearch search = OverlapSearch::kThorough);

// ---- the plain periodic plan, an anchor every so many steps (Kukreja, Hueckelheim & Gorman 2018,
// arXiv 1806.01117), as AnchoredPlanner places them ----

/// An anchor every `interval` steps. Intervals are reversed with `slots` slots, or with one less
/// and the anchor before read ahead. `slots` >= 2 for that.
OverlappedPlan periodic_plan(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                             std::int64_t interval, bool read_ahead);

/// The published interval, ceil(write / forward), and those that cost least by interval.h.
std::vector<std::int64_t> periodic_intervals(std::int64_t steps, std::int64_t slots,
                                             const OverlapTimes& times, bool read_ahead);

/// For a disk that holds few states: a plan with at most `most_on_disk` of them there, the best of
/// the periodic plans that have so few.
OverlappedPlan plan_on_small_disk(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                                  std::int64_t most_on_disk);

}  // namespace anadrome::schedule

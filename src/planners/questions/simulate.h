// SPDX-License-Identifier: BSD-2-Clause
// A sweep on the clock: its actions and what they cost -> seconds, waiting, and what was done when.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "planners/lists/clock.h"
#include "schedule/words/action.h"

namespace anadrome::questions {

/// What carries the actions out.
struct Machine {
  schedule::StepCosts costs;                 ///< `adjoint` without the step that records a tape
  schedule::DiskUse disk;                    ///< where the schedule does not say when states move
  std::optional<schedule::FastVolume> fast;  ///< likewise; `costs` have home's times then
  /// So many of the newest states that went to disk are in memory still when they are needed.
  std::int64_t newest_stay = 1;
  bool transfers = false;       ///< Write and Read are actions of their own, beside the computation
  std::int64_t tape_slots = 0;  ///< a kept tape takes so many slots
  /// The step whose adjoint is TURN, in the papers' problem, and takes no time; -1: none is.
  std::int64_t turn_step = -1;
};

/// `slot` of `tier` held something from `start` to `end`. A tape holds several slots of RAM.
struct Held {
  std::int32_t tier = schedule::kRamTier;
  std::int64_t slot = 0, slots = 1;
  double start = 0, end = 0;
};

struct SweepSinks {
  std::function<void(const schedule::Span<double>&)> span = [](const schedule::Span<double>&) {};
  std::function<void(const Held&)> held = [](const Held&) {};
};

/// Plays the actions until Done. Returns the seconds that they take.
double simulate(const std::function<schedule::Action()>& next, const Machine& machine,
                const SweepSinks& sinks = {});

}  // namespace anadrome::questions

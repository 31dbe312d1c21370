// A planned sweep on a clock: when which step is run, and what is kept meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/trace.h"
#include "tool/schedules/schedule.h"

namespace anadrome::tool {

using engine::Activity;

/// From `start` to `end` seconds the solver, or the disk, went from step `first` to `last`.
struct Span {
  Activity activity = Activity::kAdvance;
  double start = 0, end = 0;
  double first = 0, last = 0;
};

/// `slot` of `tier` held something from `start` to `end`. A tape holds several slots of RAM.
struct Held {
  std::int32_t tier = schedule::kRamTier;
  std::int64_t slot = 0, slots = 1;
  double start = 0, end = 0;
};

struct SweepSinks {
  std::function<void(const Span&)> span;
  std::function<void(const Held&)> held;
};

/// Plays the actions of estimate.sweep and returns the seconds that they take. Overlapped
/// transfers follow the model of schedule/interval.h: the next anchor waits until the one before it
/// is written, and the anchor below is read while an interval is reversed.
double play(const ActionSource& next, const WhatIf& question, const Estimate& estimate,
            const SweepSinks& sinks);

}  // namespace anadrome::tool

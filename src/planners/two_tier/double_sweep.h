// SPDX-License-Identifier: BSD-2-Clause
// Double checkpointing (Bencheikh, Finkbeiner & Neftci, arXiv 2412.11810): copies off chip at equal
// intervals; within an interval states at equal distances, and all the tapes of one part at a time.
// Static loops, for accelerators and codes with fixed buffers. Closed forms.
#pragma once

#include <cstdint>

#include "schedule/anchored/interval.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

/// An interval cut into `parts` parts: the last ones have `part` steps, the first one what is left.
struct DoubleInterval {
  std::int64_t steps = 0;
  std::int64_t part = 0, parts = 0;
  std::int64_t local_units = 0;  ///< parts states, the interval's start among them, and part tapes

  /// Forward steps that its reversal takes: one sweep up to the last part, and one that records.
  std::int64_t forwards() const { return parts == 1 ? steps : steps + (steps - part); }
  /// Where part `index` of 0 .. parts begins, counted from the interval's start.
  std::int64_t begin(std::int64_t index) const {
    return index == 0 ? 0 : steps - (parts - index) * part;
  }
  /// The part in which a step lies.
  std::int64_t part_of(std::int64_t step) const {
    return step < begin(1) ? 0 : parts - 1 - (steps - 1 - step) / part;
  }
};

/// The least local memory, then the fewest forward steps, for an interval of `steps` steps: about
/// 2 sqrt(tape_units steps). Throws ERR_ARGUMENT unless 1 <= steps, 1 <= tape_units and their
/// product is at most 2^60.
DoubleInterval best_double_interval(std::int64_t steps, std::int64_t tape_units);

/// The fewest forward steps with at most `local_units`, which must suffice for
/// best_double_interval.
DoubleInterval double_interval_within(std::int64_t steps, std::int64_t tape_units,
                                      std::int64_t local_units);

struct DoubleSweep {
  std::int64_t steps = 0, interval = 0, intervals = 0;
  DoubleInterval full, last;  ///< the last one may be shorter
  bool keeps_tapes = true;    ///< those of a part; false: its states
};

/// The memory of a run for an interval. Its start, on disk, has a unit here, too; a tape is not
/// kept where it is needed next.
struct DoubleMemory {
  std::int64_t units = 1;
  std::int64_t tape_units = 0;  ///< 0: the states of a part are kept instead of its tapes
};

/// The longest interval that fits.
std::int64_t longest_double_interval(const DoubleMemory& memory);

/// In the fewest forward steps that fit. `steps`: kMostSteps if unknown. Throws ERR_ARGUMENT where
/// `interval` does not fit.
DoubleSweep double_sweep_within(std::int64_t steps, std::int64_t interval,
                                const DoubleMemory& memory);

/// How a run carries a sweep out. Transfers run beside the computation.
struct DoubleCosts {
  StepCosts step;           ///< `adjoint` without the step that records a tape
  bool record = true;       ///< the adjoint of a step needs its tape; false: TURN is the last step
  bool reads_ahead = true;  ///< the anchor below is read while an interval is reversed
};

struct DoubleTime {
  double seconds = 0, waiting = 0;  ///< for transfers, of these
};

DoubleTime double_time(const DoubleSweep& sweep, const DoubleCosts& costs);

/// The sweep that takes the least time of those with intervals of `least` steps or more: all of the
/// next 4096, and every 4 % beyond. Among equals the longest, or with an unknown end, where the
/// last interval is swept twice, the shortest.
DoubleSweep best_double_sweep(std::int64_t steps, std::int64_t least, const DoubleMemory& memory,
                              const DoubleCosts& costs);

/// The last interval is reversed when the forward sweep gets there. StackOptions: its units, its
/// disk slots; with tapes `record` and their units, with states either, and TURN counts as a step
/// without `record`.
class DoublePlanner final : public Planner {
 public:
  explicit DoublePlanner(const DoubleSweep& sweep) : sweep_(sweep) {}

  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;
  std::int64_t interval() const override { return sweep_.interval; }

  const DoubleSweep& sweep() const { return sweep_; }

 private:
  /// The interval in which a step lies.
  struct Where {
    std::int64_t start;
    const DoubleInterval& interval;
    std::int64_t end() const { return start + interval.steps; }
    std::int64_t part_of(std::int64_t step) const { return interval.part_of(step - start); }
    std::int64_t begin(std::int64_t part) const { return start + interval.begin(part); }
  };
  Where where(std::int64_t step) const;
  uint128 advances_within(std::int64_t first, std::int64_t last) const;

  DoubleSweep sweep_;
};

// ---- as it was published: the forward sweep to its end, then all intervals, the last one too;
// copies off chip are never waited for ----

/// `interval` steps between copies, all of them if it is above `steps`: the sweep takes
/// `full.local_units` of memory, and room for `intervals` states off chip. Throws as
/// best_double_interval does for an interval.
DoubleSweep double_sweep(std::int64_t steps, std::int64_t interval, std::int64_t tape_units);

/// Forward steps in all.
uint128 forwards_of(const DoubleSweep& sweep);

}  // namespace anadrome::schedule

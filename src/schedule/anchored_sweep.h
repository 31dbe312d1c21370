// How many anchors a sweep of known length takes, and what it costs with its end: the model of
// schedule/interval.h for the intervals, and the tail that is reversed from RAM.
#pragma once

#include <cstdint>

#include "schedule/interval.h"
#include "schedule/revolve.h"

namespace anadrome::schedule {

struct AnchoredSweep {
  std::int64_t interval = 1;
  std::int64_t written = 0;  ///< anchors on disk, an interval after each; the rest is the tail
  uint128 advances = 0;      ///< steps that are run without recording them
  double seconds = 0;        ///< forward and reverse
  double waiting = 0;        ///< of these, for the disk
};

class AnchoredModel {
 public:
  /// `steps` before TURN. `record`: the adjoint reads a tape, so that every step is recorded, apart
  /// from its adjoint. `tape_units`: slots of a kept tape; 0: tapes are not kept.
  AnchoredModel(std::int64_t steps, bool record, std::int64_t tape_units, const StepCosts& costs)
      : steps_(steps), record_(record), tape_units_(tape_units), costs_(costs) {}

  /// As many anchors as pay, at most `most_written`. 1 <= interval.
  AnchoredSweep sweep(std::int64_t interval, std::int64_t slots, Overlap overlap,
                      std::int64_t most_written) const;

  /// The cheapest of many intervals, the same ones whatever the slots: with more slots or more
  /// room on disk no sweep is dearer.
  AnchoredSweep best(std::int64_t slots, Overlap overlap, std::int64_t most_written) const;

 private:
  uint128 tail(std::int64_t steps, std::int64_t slots) const;

  std::int64_t steps_;
  bool record_;
  std::int64_t tape_units_;
  StepCosts costs_;
};

}  // namespace anadrome::schedule

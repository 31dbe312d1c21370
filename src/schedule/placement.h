// The question that every nested schedule answers again and again: x_first is live and the steps
// first .. last-1 are to be reversed; what is to be kept, and where?
//
// Kept states and tapes form a stack, ordered by step. A planner sees one segment of it at a time
// and keeps no account of what was placed: Nested does.
#pragma once

#include <cstdint>

#include "schedule/revolve.h"

namespace anadrome::schedule {

enum class Place : std::uint8_t {
  kNowhere,  ///< as `held`: x_first is live only
  kRam,      ///< a state in RAM: state_units(step) units
  kDisk,     ///< a state on disk: one disk slot
  kTape,     ///< the tape of a step, in RAM: tape_units units
};

struct Segment {
  std::int64_t first = 0, last = 0;  ///< steps first .. last-1; at least two, or one if `tapes`
  Place held = Place::kNowhere;  ///< where x_first is restored from; kTape: out of the tape of step
                                 ///< first - 1, which restarts the next step (stiffly accurate)
  std::int64_t units = 0;        ///< free units of RAM, without x_first's own if it is in RAM
  std::int64_t disk_slots = 0;   ///< free disk slots, without x_first's own if it is on disk
};

/// The answer, with one of:
///   kRam, kDisk   x_first is kept there, too, and the question comes again with `held` so
///   kTape         step first is recorded and its tape is kept; what x_first itself took in RAM is
///                 given up before. The question comes again for first+1 .. last
///   kNowhere      `advance` steps are run, 1 <= advance < last - first, and the question comes
///                 again for first+advance .. last; afterwards x_first is restored and it comes for
///                 first .. first+advance. Only if x_first is held.
struct Placement {
  Place place = Place::kNowhere;
  std::int64_t advance = 0;
};

class Planner {
 public:
  virtual ~Planner() = default;

  virtual Placement place(const Segment& segment) = 0;

  /// Steps that the reversal of this segment runs without recording their tape, the answers of
  /// place() given: exact. A segment of one step takes none.
  virtual uint128 advances(const Segment& segment) = 0;

  /// False: its costs are still to be measured, and it answers for what is held only. Nested asks
  /// for them (kDecide) where it would have to answer otherwise.
  virtual bool ready() const { return true; }

  virtual std::int64_t state_units(std::int64_t step) const {
    (void)step;
    return 1;
  }
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The question that every nested schedule answers again and again: x_first is live and the steps
// first .. last-1 are to be reversed; what is to be kept, and where?
//
// Kept states and tapes form a stack, ordered by step. A planner sees one segment of it at a time
// and keeps no account of what was placed: StackSweep does.
#pragma once

#include <cstdint>

#include "schedule/words/costs.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

class IntervalTimes;

/// The times as all ranks know them from the last agreement.
struct Measured {
  StepCosts costs;
  bool write_times_known = false;        ///< every rank has written a state
  bool of_earlier_sweep = false;         ///< these are times of a sweep before this one
  std::int64_t agreement = 0;            ///< number of that agreement
  const IntervalTimes* times = nullptr;  ///< of intervals of this run
};

/// The next thing that a decision needs; all ranks come to the same.
enum class Next : std::uint8_t {
  kGoOn,   ///< nothing: it is made
  kAgree,  ///< agree on the times, and ask again
  kFlush,  ///< wait for the writes, agree on the times, and ask again
};

enum class Place : std::uint8_t {
  kNowhere,  ///< as `held`: x_first is live only
  kRam,      ///< a state in RAM: state_units(step) units
  kDisk,     ///< a state on disk: one disk slot
  kTape,     ///< the tape of a step, in RAM: tape_units units
  // As an answer only:
  kRevolve,  ///< steps from x_first on are reversed by Revolve, with the units that are free
  kReplace,  ///< in the place of the kept state number `advance` from the bottom of the stack
  kAsk,      ///< nobody knows yet: Decide
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

  /// True: this planner says how to come to the end of the forward sweep, and is asked before
  /// anything else. The answer after which it does not is void: the question comes again.
  virtual bool leads() const { return false; }
  /// While it leads: steps that are run from the newest anchor x_first on, without recording them,
  /// until all of them are reversed.
  virtual uint128 advances_ahead(const Segment& segment) { return advances(segment); }
  /// The end is known, and the live state is x_steps, or the reverse sweep has begun already.
  virtual void end_is(std::int64_t steps) { (void)steps; }

  /// Facts of a planner that puts anchors at intervals; Course has them, too.
  virtual std::int64_t ahead() const { return kUnknown; }
  virtual bool on_the_way() const { return false; }  ///< to an anchor, or to the next question
  virtual std::int64_t interval() const { return 0; }
  /// Is the interval one that is meant to stay? False while another one is only looked at.
  virtual bool rests() const { return true; }
  virtual std::int64_t prefetch_depth() const { return kUnknown; }

  /// The disk is full: what follows the newest anchor has so many slots.
  virtual void use_all(std::int64_t slots) { (void)slots; }

  /// Units that it uses now, of those that there are.
  virtual std::int64_t usable(std::int64_t units) const { return units; }

  /// False: advances() cannot tell yet.
  virtual bool ready() const { return true; }

  /// So many anchors were put by a process before this one, which goes on.
  virtual void found(std::int64_t anchors) { (void)anchors; }

  /// Takes up an open question (kAsk). `here` is as in place(); so many anchors stay below.
  virtual Next decide(const Segment& here, std::int64_t anchors, const Measured& measured);

  virtual std::int64_t state_units(std::int64_t step) const {
    (void)step;
    return 1;
  }
};

}  // namespace anadrome::schedule

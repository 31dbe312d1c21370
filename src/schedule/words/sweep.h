// SPDX-License-Identifier: BSD-2-Clause
// What a run or a stream plays: one action after the other, forward, TURN and reverse. The only
// door to the machines behind it: a StackSweep (states that nest, as a planner places them) and a
// PassSweep (another pass over them). A ListSweep (a list in which each transfer has its place) and
// a BranchSweep (branches that meet) are for streams: a run asks more of its sweep than these do.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/words/action.h"
#include "schedule/words/anchor_list.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

enum class Direction : std::uint8_t { kForward, kReverse };

/// The first and the last of the steps after which something may happen; as it begins, none.
struct Ends {
  std::int64_t first = 0, last = -1;
  bool has(std::int64_t steps) const { return first <= steps && steps <= last; }
};

/// The facts about a sweep that reports, commits and the memory ask for.
struct Course {
  std::int64_t steps = 0;                  ///< n, or kUnknown
  std::int64_t interval = 0;               ///< steps between anchors; 0: not known
  bool rests = true;                       ///< the interval is no trial
  std::int64_t slots = 0;                  ///< between anchors; 0: not chosen here
  std::int64_t prefetch_depth = kUnknown;  ///< anchors that are read ahead; kUnknown: not decided
  std::int64_t anchor_ahead = kUnknown;    ///< step; kUnknown: the forward sweep goes to no anchor
  bool ends_in_ram = false;  ///< no anchor follows any more: the rest is reversed from memory
  std::int64_t anchors_left = kNoLimit;   ///< so many more are expected to find room on disk
  std::int64_t adjoints_left = kUnknown;  ///< adjoint steps to come; kUnknown while n is
  bool may_rewind = false;  ///< after Done: another reverse sweep has something to begin with
  Ends ends{};  ///< where the forward sweep may end: unknown n only, inside the last Advance
};

/// Where a sweep goes on that another process had begun.
struct Middle {
  const AnchorList& anchors;
  Direction direction = Direction::kForward;
  std::int64_t run_before = 0;  ///< forward: steps below it were run once; reverse: n
  std::int64_t position = 0;    ///< reverse: steps from here on are adjoined; nothing is live
};

/// The rest for a sweep whose disk takes no more states.
struct DiskLeft {
  std::int64_t slots = 0;  ///< all of the memory, nothing read ahead; 0: as many as before
};

/// What a sweep that is done has left for passes over its steps.
struct Remains {
  Course course;
  bool record = false;     ///< a step is of use with its tape only
  std::int64_t units = 0;  ///< of RAM, each for a state; those of `in_ram` included
  /// States, x_0 included if it is there, or the tapes of all steps and x_n, which stay.
  std::vector<Kept> in_ram;
  AnchorList anchors;
};

/// A pass that begins.
struct Pass {
  Direction direction = Direction::kReverse;
  std::int64_t restorable = 1;        ///< of anchors the first so many are left
  std::int64_t states_per_block = 1;  ///< of anchors
  /// Forward: the anchors of every so many blocks are restored; steps are run instead of the others
  /// being read.
  std::int64_t stride = 1;
  bool as_read = false;  ///< what comes back from disk is not what was kept: no anchor is left out
};

class Sweep {
 public:
  virtual ~Sweep() = default;

  virtual Action next() = 0;

  /// The answer to Decide, from what all ranks agree on: what is still to be done before it is
  /// made.
  virtual Next decide(const Measured& measured);

  virtual Course course() const = 0;
  /// Advances that all actions to come will take; kUnknown while that is not fixed.
  virtual std::int64_t advances_remaining() const = 0;

  /// The forward sweep ended with x_steps live, where Course::ends allows it.
  virtual void finish_forward(std::int64_t steps);

  /// Anchor `number`, just asked for by Restore, and those above it cannot be restored. False:
  /// nothing below can be started from.
  virtual bool lose(std::int64_t number);
  /// In the reverse sweep, where Restore has just named an anchor: what follows, up to its Drop, or
  /// what comes after the last Adjoint, may be asked for twice. False: it cannot.
  virtual bool mark() { return false; }
  /// Right after that action: as if the Restore had been the last one.
  virtual void go_back() {}

  /// No state goes to disk after those that there are. May lack the memory.
  virtual void disk_is_full(const DiskLeft& left) { (void)left; }
  /// The disk holds so many anchors, as far as is known by now; never fewer than there are.
  virtual void disk_holds(std::int64_t anchors) { (void)anchors; }
  /// What the next anchors take, so that next() allocates nothing: where a failure can be held.
  virtual void make_room_for_anchors() {}

  /// After Done: another reverse sweep. Of anchors the first `restorable` are left.
  virtual void rewind(std::int64_t restorable);

  /// After Done: what a PassSweep needs. Nothing: x_0 is not kept any more.
  virtual std::optional<Remains> remains() { return {}; }
  /// After Done, of a PassSweep: another pass.
  virtual void begin_pass(const Pass& pass);

  /// Before the first action: go on in the middle. Forward, the newest of the anchors is live.
  virtual void resume(const Middle& middle);

  virtual const AnchorList& anchors() const;
};

}  // namespace anadrome::schedule

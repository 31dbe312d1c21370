// SPDX-License-Identifier: BSD-2-Clause
// The concrete question: bytes, seconds and rates of a job that is yet to be queued, and how many
// states its memory and its disk hold, by the rules of the library.
#pragma once

#include <cstdint>

#include "base/index.h"
#include "schedule/words/costs.h"
#include "schedule/words/two_volumes.h"
#include "tool/schedules/problems/problem.h"

namespace anadrome::tool {

/// Of states on disk.
struct Compression {
  double ratio = 1;  ///< bytes before over bytes after; the rates of the disk have it in them

  bool on() const { return ratio > 1; }
  /// Bytes on disk.
  std::int64_t of(std::int64_t bytes) const {
    return on() ? static_cast<std::int64_t>(real(bytes) / ratio) : bytes;
  }
};

struct WhatIf {
  std::int64_t steps = 0;
  std::int64_t ranks = 1;
  std::int64_t state_bytes = 0;  ///< per rank
  std::int64_t memory = 0;       ///< per rank
  double forward = 0;            ///< seconds of a step
  double adjoint = 0;            ///< seconds of an adjoint step
  double write_rate = 0;         ///< bytes per second and rank; 0: no disk
  double read_rate = 0;
  std::int64_t disk = kNoLimit;  ///< bytes of all ranks together
  /// A second, faster directory; the numbers above are home's then.
  struct Fast {
    double write_rate = 0, read_rate = 0;  ///< 0: there is none
    std::int64_t disk = kNoLimit;
    bool has_disk = false;  ///< both rooms were given
  } fast;
  std::int64_t tape_bytes = 0;  ///< per rank; 0: no tapes
  bool tape_restarts = false;
  Compression compression;
  std::int64_t slot_bytes =
      0;  ///< of a state in single precision, per rank; 0: slots are as states
  std::int64_t checkpoints = 0;  ///< slots that a schedule may use; 0: all that fit
  /// Every core computes: a transfer takes all of its time from the steps beside it, which is the
  /// most that it can. False: a core per rank is free for transfers.
  bool cores_busy = false;
  std::int64_t passes = 0;  ///< after the sweep, forward and in reverse in turns
  /// Bytes of a state over those of a residual, of steps that can be undone; 0: they cannot.
  double undo_ratio = 0;
  double undo = 0;   ///< seconds to undo a step; 0: as long as a step
  double visit = 0;  ///< seconds of a step's visit in a pass forward; 0: a forward step's

  bool has_disk() const { return write_rate > 0 && (disk > 0 || (has_fast() && fast.disk > 0)); }
  bool has_fast() const { return fast.write_rate > 0; }
  bool has_tape() const { return tape_bytes > 0; }
  /// Of a state.
  schedule::VolumeCosts at_home() const { return at(write_rate, read_rate); }
  schedule::VolumeCosts at_fast() const { return at(fast.write_rate, fast.read_rate); }
  schedule::VolumeCosts on_disk() const {
    return has_fast() ? schedule::side_by_side(at_home(), at_fast()) : at_home();
  }
  double write_seconds() const { return on_disk().write; }
  double read_seconds() const { return on_disk().read; }
  double undo_seconds() const { return undo > 0 ? undo : forward; }
  double visit_seconds() const { return visit > 0 ? visit : forward; }
  /// Every step and every adjoint step once, and nothing else.
  double ideal_seconds() const { return real(steps) * (forward + adjoint); }
  /// The same of the sweep and all passes.
  double ideal_seconds_in_all() const {
    const std::int64_t reverse = passes / 2, there = passes - reverse;
    return ideal_seconds() +
           real(steps) * (real(there) * visit_seconds() + real(reverse) * adjoint);
  }

 private:
  schedule::VolumeCosts at(double write, double read) const {
    return {real(state_bytes) / write, real(state_bytes) / read};
  }
};

/// A state: in the memory of a run, with its bookkeeping, and on disk, all ranks together.
struct StateBytes {
  std::int64_t memory = 0, disk = 0;
};
StateBytes state_bytes(const WhatIf& question);

/// So many of them fit on a disk; kNoLimit.
std::int64_t states_on(std::int64_t disk, std::int64_t state);

/// The states that a loop of the caller's has room for, by a stream: all of the memory is its own.
struct StreamRoom {
  explicit StreamRoom(const WhatIf& question);

  /// Bytes of so many.
  std::int64_t bytes_of(std::int64_t count) const { return count * state_bytes; }

  std::int64_t state_bytes;
  std::int64_t slots;            ///< kept tapes take some of them
  std::int64_t disk_states = 0;  ///< that may be on disk at a time
  schedule::StepCosts costs;
};

/// Throws ERR_ARGUMENT if a state of all ranks, or with it the whole sweep, is beyond counting.
void check(const WhatIf& question);

}  // namespace anadrome::tool

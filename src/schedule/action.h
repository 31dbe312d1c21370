// What a schedule says: plain values. A schedule knows step numbers and slot counts, and nothing
// about states, files or ranks; that is why it can be tested with no I/O and no MPI.
#pragma once

#include <cstdint>

namespace anadrome::schedule {

enum class Kind : std::uint8_t {
  kAdvance,        ///< run steps first .. last-1 from the live state x_first
  kKeep,           ///< copy the live state x_first into RAM slot `slot`
  kRestore,        ///< copy RAM slot `slot`, which holds x_first, to the live state
  kDrop,           ///< RAM slot `slot`, which held x_first, is free again
  kAnchor,         ///< keep the live state x_first as anchor number `slot`
  kRestoreAnchor,  ///< copy anchor number `slot`, x_first, to the live state
  kDropAnchor,     ///< anchor number `slot` is not needed again in this reverse sweep
  kWriteAnchor,    ///< of an OverlappedSweep: queue the write of anchor number `slot`, x_first
  kReadAnchor,     ///< and the read; kDropAnchor frees its memory only
  kKeepTape,       ///< copy the tape of step first to the RAM slots from `slot` on
  kRestoreTape,    ///< copy it back; if it restarts, x_first+1 is live
  kDropTape,       ///< its slots are free again
  kDecide,         ///< at x_first: answer with a plan or with probe
  kStart,          ///< of a JoinSweep: the caller makes x_0 of `branch` live
  kTurn,           ///< the live state is x_n: the reverse sweep begins (see JoinSweep for branches)
  kAdjoint,        ///< adjoint of step first; x_first is live (or its tape was just recorded)
  kDone            ///< nothing is left to do
};

struct Action {
  Kind kind = Kind::kDone;
  bool record = false;  ///< kAdvance: the last step fills the tape
  bool again = false;   ///< kAdvance: these steps were run before
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t slot = -1;
  std::int64_t branch = 0;
  std::int64_t place = 0;  ///< of an OverlappedSweep: where the state lies in memory, in units
};

}  // namespace anadrome::schedule

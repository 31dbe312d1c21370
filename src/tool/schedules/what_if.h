// The concrete question: bytes, seconds and rates of a job that is yet to be queued, and how many
// states its memory and its disk hold, by the rules of the library.
#pragma once

#include <cstdint>

#include "store/block_layout.h"
#include "tool/schedules/problem.h"

namespace anadrome::tool {

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
  std::int64_t tape_bytes = 0;   ///< per rank; 0: no tapes
  bool tape_restarts = false;

  bool has_disk() const { return write_rate > 0 && disk > 0; }
  bool has_tape() const { return tape_bytes > 0; }
  double write_seconds() const { return static_cast<double>(state_bytes) / write_rate; }
  double read_seconds() const { return static_cast<double>(state_bytes) / read_rate; }
  /// Every step and every adjoint step once, and nothing else.
  double ideal_seconds() const { return static_cast<double>(steps) * (forward + adjoint); }
};

/// A rank's memory in blocks of states, as the library cuts it.
struct Blocks {
  std::int64_t count = 0;
  std::int64_t states = 1;      ///< in one
  std::int64_t bytes = 0;       ///< of one, with its bookkeeping
  std::int64_t disk_bytes = 0;  ///< of one on disk, all ranks
};

/// `beside`: bytes of the memory that are not for states.
Blocks cut_memory(const WhatIf& question, store::DiskUse disk, std::int64_t beside = 0);

/// States that the disk holds.
std::int64_t disk_states(const WhatIf& question, const Blocks& blocks);

/// Throws ERR_ARGUMENT if a state of all ranks, or with it the whole sweep, is beyond counting.
void check(const WhatIf& question);

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// Ways of having the states of a heat equation in reverse: through the library with different
// schedules, and by hand without it. Each keeps its memory and files from one sweep to the next, so
// that a sweep after the first one finds everything warm.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heat.h"

namespace bench {

struct Problem {
  heat_model* model = nullptr;
  std::int64_t steps = 0;
  std::vector<double> start;   ///< x_0: computed once, for its sines cost as much as many steps
  std::int64_t work = 1;       ///< of the first step
  std::int64_t last_work = 1;  ///< of the last step; work between them rises evenly

  /// Bytes of x_0, x_1, .. where the size changes; else empty. Work rises with it then, to
  /// `last_work` for a state that heat has reached everywhere.
  std::vector<std::int64_t> state_bytes;
  /// Fill state_bytes by running the steps. Collective.
  void measure_states();

  /// The model, for step k or its adjoint.
  heat_model* ready(std::int64_t k) const;
};

struct Means {
  std::string directory = ".";
  std::int64_t memory = 0;             ///< bytes per rank for all states a mode holds
  std::int64_t interval = 8;           ///< of sync_interval
  std::int64_t bytes_per_second = 0;   ///< of reading and of writing, per rank; 0: no limit
  double seconds_between_commits = 1;  ///< of async_commits
  bool fresh = false;                  ///< each sweep is the first of a run
};

struct Measured {
  double seconds_total = 0, seconds_forward = 0;  ///< this rank
  anadrome_stats stats{};                         ///< this rank; a mode by hand sets what it knows
};

/// One forward and one adjoint sweep; the gradient is in the model afterwards. Collective.
using Sweep = std::function<Measured()>;

/// Every state in one array, each step writing into the next one's place: no bookkeeping, no copy.
/// Takes as much memory as the states do, whatever `means` say.
Sweep ideal_sweep(Problem& problem);

/// The code of an afternoon: as many states in memory as fit; every so many steps one is written on
/// the caller's thread (pwrite, O_DIRECT), and in the adjoint sweep read back, the steps after it
/// being done again. It needs no array beside `memory`, and checks nothing that it reads.
Sweep hand_written_sweep(Problem& problem, const Means& means);

/// Tapes of the model are tape fields, and a state whose size changes is stored in as many bytes.
/// `mode`: auto, store_all, revolve, mixed; async; async_zero_copy; async_resume
/// (resume=on, without a commit), async_commits; sync_disk (as async, but through parallel HDF5 on
/// the caller's thread: transport=mpio); sync_interval (the same with the interval of `means` in
/// place of one that is planned for such a disk). Throws for another one. `async=8` has an interval
/// of 8; `async+` is `async` in files of its own.
Sweep library_sweep(const std::string& mode, Problem& problem, const Means& means);

}  // namespace bench

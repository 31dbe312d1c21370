// SPDX-License-Identifier: BSD-2-Clause
// The text of a sweep's summary, from its numbers: docs/summary.md has its lines.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <string>

#include "engine/report/why.h"
#include "engine/sweep/sweep_state.h"

namespace anadrome::engine {

/// Of the library.
std::string version();

/// The numbers that rank 0 needs of the others: added up,
struct Sums {
  std::int64_t bytes_written, bytes_read, bytes_compressed, fast_written, fast_read;
  std::int64_t wanted;  ///< rank 0's: is there to be a summary?
};
/// and the largest of any rank.
struct Largest {
  double stalled_write, stalled_read, copying, agreeing, writing, reading, checksums, peak;
};
struct Reduced : Sums, Largest {
  std::int64_t peak_bytes() const { return static_cast<std::int64_t>(peak); }
};

/// The texts of the summary, each made elsewhere.
struct Words {
  std::string codec, verdict, chosen, memory, compared, refused, plan_command;
  std::string overruled, without_effect;  ///< options
  std::string volumes;                    ///< lines; empty: there is one
  std::string undone;                     ///< steps, and how; empty: none were
  bool holes;                             ///< in files, of which nothing was reserved
  bool records;                ///< every step is run once more, or at last, to record its tape
  bool part;                   ///< of a sweep that another process began
  std::int64_t revolve_slots;  ///< that Revolve alone would have
  std::int64_t never_on_disk;  ///< of the anchors that are lost: the disk had refused them
};

/// " at 1.2 GB/s per rank", or nothing.
std::string rate_of(std::int64_t bytes, double seconds);

SweepTimes times_of(const anadrome_stats& stats, const Reduced& all, const SweepState::Spent& spent,
                    bool part);

/// Which steps and states were compared.
std::string compared(const SweepState::Checks& checks);

std::string summary(const anadrome_stats& stats, const Reduced& all, bool measured_interval,
                    const Words& said);

}  // namespace anadrome::engine

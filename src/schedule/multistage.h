// SPDX-License-Identifier: BSD-2-Clause
// Multistage checkpointing (Stumm & Walther 2009): Revolve with all slots, in RAM and on disk, of
// which those that are used least are on disk. The costs of reading and writing have no say.
#pragma once

#include <cstdint>

#include "schedule/placement.h"
#include "schedule/revolve.h"

namespace anadrome::schedule {

/// Which of Revolve's optimal splits, all with as many advances.
enum class MultistageSplits : std::uint8_t {
  kPublished,  ///< those of Griewank & Walther 2000, which ADOL-C and PETSc take
  kShortest,   ///< the shortest advance: fewer accesses to the lower places of the stack
};

/// The disk has the lowest places of the stack. With the shortest splits these are the ones that
/// are used least; with the published ones not always (docs/theory-two-tier.md).
class MultistagePlanner final : public Planner {
 public:
  explicit MultistagePlanner(MultistageSplits splits = MultistageSplits::kShortest)
      : splits_(splits) {}

  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;

 private:
  MultistageSplits splits_;
  Splitter splitter_;
};

/// Steps to advance from a kept state, one of `slots`, in a reversal of `steps` steps. steps >= 2.
std::int64_t multistage_split(Splitter& splitter, std::int64_t steps, std::int64_t slots,
                              MultistageSplits splits);

}  // namespace anadrome::schedule

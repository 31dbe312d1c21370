// SPDX-License-Identifier: BSD-2-Clause
// Multistage checkpointing (Stumm & Walther 2009): Revolve with all slots, in RAM and on disk, of
// which those that are used least are on disk. The costs of reading and writing have no say.
#pragma once

#include <cstdint>

#include "schedule/stack/multistage_split.h"
#include "schedule/words/placement.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

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

}  // namespace anadrome::schedule

// Multistage checkpointing (Stumm & Walther 2009): Revolve with all slots, in RAM and on disk, of
// which those that are used least are on disk. What reading and writing costs has no say.
#pragma once

#include <cstdint>

#include "schedule/placement.h"
#include "schedule/two_tier_costs.h"

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

/// Throws ERR_ARGUMENT also where so few slots are used so often, or so many slots are on disk,
/// that counting takes too long.
TwoTierUse multistage_use(std::int64_t steps, std::int64_t ram_slots, std::int64_t disk_slots,
                          MultistageSplits splits = MultistageSplits::kShortest);

/// The cost of that sweep: advances, writes, reads, and steps * adjoint.
uint128 multistage_cost(std::int64_t steps, std::int64_t ram_slots, std::int64_t disk_slots,
                        const TwoTierCosts& costs,
                        MultistageSplits splits = MultistageSplits::kShortest);

}  // namespace anadrome::schedule

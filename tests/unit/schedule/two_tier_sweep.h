// A sweep of a planner for RAM and disk on the model machine, and what it cost.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "nested_replay.h"
#include "schedule/two_tier_costs.h"

namespace anadrome::schedule {

struct TwoTierCase {
  std::int64_t steps, ram_slots, disk_slots;
};

inline NestedOptions options_of(const TwoTierCase& given) {
  NestedOptions options;
  options.steps = given.steps;
  options.units = given.ram_slots;
  options.disk_slots = given.disk_slots;
  options.turn = false;
  return options;
}

inline TwoTierUse use_of(const NestedTotals& totals) {
  return {static_cast<uint128>(totals.advances), static_cast<uint128>(totals.writes),
          static_cast<uint128>(totals.reads)};
}

/// The paper's problem, states only. Throws if a rule is broken or a slot is used that is not
/// there.
template <class Planner>
TwoTierUse replayed(const TwoTierCase& given, Planner planner) {
  return use_of(replay(options_of(given), std::make_unique<Planner>(std::move(planner))));
}

}  // namespace anadrome::schedule

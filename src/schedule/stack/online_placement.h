// SPDX-License-Identifier: BSD-2-Clause
// Which states to keep while the number of steps is not known: each new state asks for the place of
// an older one. It knows steps and places, and nothing of what a sequence of actions looks like.
//
// Up to beta(s, 2) steps the kept states are an optimum for every end (Stumm & Walther 2010 showed
// that this can be). Beyond, a state is kept as soon as that makes the reversal from the next step
// on cheaper; with too many slots to weigh them all, by levels (Wang, Moin & Iaccarino 2009).
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/words/revolve.h"

namespace anadrome::schedule {

class OnlinePlacement {
 public:
  /// With more slots than `few_slots`, levels.
  explicit OnlinePlacement(std::int64_t few_slots = 512) : few_slots_(few_slots) {}

  /// Memory for so many slots, now.
  void reserve(std::int64_t slots);

  /// x_first is kept for good, in one of `slots`.
  void begin(std::int64_t first, std::int64_t slots);

  /// x_step is kept in the next place, 0 for the first one. At most slots - 1 times.
  void add(std::int64_t step);

  /// All places are taken and x_step is live, later than all of them: the place it takes over, or
  /// -1 if it is not kept. To be asked at every step.
  std::int64_t replace(std::int64_t step);

 private:
  enum class Rule { kEvery, kCheapest, kLevels };

  std::int64_t replace_oldest(std::int64_t step);
  std::int64_t replace_if_cheaper(std::int64_t step);
  std::int64_t replace_by_level(std::int64_t step);
  void weigh();
  void start_levels();
  std::int64_t step_at(std::int64_t rank) const;  ///< 0: x_first

  std::int64_t few_slots_;
  Rule rule_ = Rule::kEvery;
  std::int64_t first_ = 0, slots_ = 1;
  std::vector<std::int64_t> steps_;  ///< by place

  // kEvery: a ring of the places that will be given up, oldest first.
  std::vector<std::int64_t> order_;
  std::size_t oldest_ = 0, in_ring_ = 0;
  std::int64_t stays_ = 0, distance_ = 0;  ///< the next step to stay; from the one before

  // kCheapest: order_ holds all places by step. Costs of a reversal up to the newest of them.
  Splitter splitter_;
  std::vector<uint128> before_;        ///< by rank: of what lies before that state
  std::int64_t cheapest_ = 0;          ///< rank of the state that is best given up; 0: none
  uint128 cost_without_cheapest_ = 0;  ///< without the steps beyond the newest state

  // kLevels: x_first's is infinite.
  std::vector<std::int32_t> levels_;       ///< by place
  std::vector<std::int64_t> essential_;    ///< places, levels never rising
  std::vector<std::int64_t> dispensable_;  ///< places that a later, higher level made superfluous
};

}  // namespace anadrome::schedule

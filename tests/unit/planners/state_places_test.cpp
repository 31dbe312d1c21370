// SPDX-License-Identifier: BSD-2-Clause
// Where states of several sizes lie.
#include "planners/lists/state_places.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

namespace anadrome::schedule {
namespace {

OverlapAction keep(std::int64_t step) { return {OverlapKind::kKeep, 0, step, -1}; }
OverlapAction drop(std::int64_t step) { return {OverlapKind::kDrop, 0, step, -1}; }

// Units of the states that are there at a time; no two of them in one place, and none beyond
// `needed`.
std::int64_t most_at_a_time(const std::vector<OverlapAction>& actions, const StateUnits& units,
                            std::int64_t needed) {
  std::map<std::int64_t, std::int64_t> there;  // place, by step
  std::int64_t load = 0, most = 0;
  for (const OverlapAction& action : actions) {
    const std::int64_t size = units.of(action.first);
    if (action.kind == OverlapKind::kDrop) {
      EXPECT_EQ(there.at(action.first), action.last);
      there.erase(action.first);
      load -= size;
      continue;
    }
    EXPECT_GE(action.last, 0);
    EXPECT_LE(action.last + size, needed);
    for (const auto& [step, place] : there) {
      EXPECT_TRUE(place + units.of(step) <= action.last || action.last + size <= place);
    }
    there[action.first] = action.last;
    load += size;
    most = std::max(most, load);
  }
  return most;
}

TEST(StatePlaces, LeaveNoGapsWhereStatesNestAndKnowWhatIsToCome) {
  const StateUnits nested({5, 1, 7, 3, 9}), crossed({2, 1, 3});
  std::vector<OverlapAction> actions = {keep(0), keep(2), keep(4), drop(4), keep(3),
                                        drop(3), drop(2), keep(1), drop(1), drop(0)};
  EXPECT_EQ(place_states(actions, nested), 5 + 7 + 9);
  EXPECT_EQ(most_at_a_time(actions, nested, 21), 21);
  // In the order of time the second state is in the way of the third.
  actions = {keep(0), keep(1), drop(0), keep(2), drop(1), drop(2)};
  EXPECT_EQ(place_states(actions, crossed), 4);
  EXPECT_EQ(most_at_a_time(actions, crossed, 4), 4);
}

TEST(StatePlaces, OfSlotsHaveRoomForTheLargest) {
  const StateUnits units({2, 1, 3});
  std::vector<OverlapAction> actions = {keep(0), keep(1), {OverlapKind::kAdvance, -1, 1, 2}};
  actions[1].slot = 4;
  place_slots(actions, units);
  EXPECT_EQ(actions[0].last, 0);
  EXPECT_EQ(actions[1].last, 12);
  EXPECT_EQ(actions[2].last, 2) << "an advance has no place";
}

RC_GTEST_PROP(StatePlaces, AreNobodyElses, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 60);
  std::vector<std::int64_t> sizes;
  for (std::int64_t k = 0; k < n; ++k) sizes.push_back(*rc::gen::inRange<std::int64_t>(0, 12));
  const StateUnits units(sizes);
  std::vector<OverlapAction> actions;
  std::vector<std::int64_t> there;
  std::int64_t next = 0;
  while (next < n || !there.empty()) {
    const bool arrives = next < n && (there.empty() || *rc::gen::arbitrary<bool>());
    if (arrives) {
      there.push_back(next);
      actions.push_back(keep(next++));
      continue;
    }
    const auto i = *rc::gen::inRange<std::size_t>(0, there.size());
    actions.push_back(drop(there[i]));
    there.erase(there.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const std::int64_t needed = place_states(actions, units);
  RC_ASSERT(needed >= most_at_a_time(actions, units, needed));
  RC_ASSERT(!testing::Test::HasFailure());
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/kept_stack.h"

#include <gtest/gtest.h>

namespace anadrome::schedule {
namespace {

TEST(KeptStack, HandsOutUnitsAndPlacesOnDiskInOrder) {
  KeptStack stack(false);
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(stack.push(0, Place::kDisk, 0), (Kept{What::kState, kDiskTier, 0, 0, {}}));
  EXPECT_EQ(stack.push(3, Place::kRam, 2), (Kept{What::kState, kRamTier, 3, 0, {0, 2}}));
  EXPECT_EQ(stack.push(5, Place::kDisk, 0).place, 1);
  const Kept tape{What::kTape, kRamTier, 7, 2, {2, 3}};
  EXPECT_EQ(stack.push(7, Place::kTape, 3), tape);
  EXPECT_EQ(stack.all().units, 5);
  EXPECT_EQ(stack.all().disk_slots, 2);
  EXPECT_EQ(stack.pop(), tape);
  EXPECT_EQ(stack.push(6, Place::kRam, 1).place, 2);
  EXPECT_TRUE(stack.top_is(Place::kRam, 6));
}

TEST(KeptStack, StartsAgainFromAStateOrBehindATapeThatRestarts) {
  for (const bool tape_restarts : {false, true}) {
    KeptStack stack(tape_restarts);
    stack.push(0, Place::kRam, 1);
    const KeptStack::Part state = stack.all();
    stack.push(1, Place::kTape, 1);
    EXPECT_EQ(stack.restarts_at(state), 0);
    EXPECT_EQ(stack.restarts_at(stack.all()), tape_restarts ? 2 : kUnknown);
    EXPECT_EQ(stack.held(0, state), Place::kRam);
    EXPECT_EQ(stack.held(2, stack.all()), tape_restarts ? Place::kTape : Place::kNowhere);
    EXPECT_TRUE(stack.has_tape(1));
    EXPECT_FALSE(stack.has_tape(0)) << "a state";
  }
}

TEST(KeptStack, KeepsTheSlotsOfReplacedStates) {
  KeptStack stack(false);
  for (const std::int64_t step : {0, 1, 2}) stack.push(step, Place::kRam, 1);
  EXPECT_EQ(stack.replace(1, 9).place, 1);
  stack.sort();
  EXPECT_EQ(stack.pop().step, 9);
  EXPECT_EQ(stack.top_step(), 2);
  EXPECT_EQ(stack.push(5, Place::kRam, 1).place, 1) << "slot 2 is taken";
  while (stack.has_entries()) stack.pop();
  EXPECT_EQ(stack.all().units, 0);
  stack.put_back();
  EXPECT_EQ(stack.all().units, 3);
  EXPECT_EQ(stack.top_step(), 5);
}

TEST(KeptStack, HasAnchorsBelow) {
  KeptStack stack(false);
  for (const std::int64_t step : {0, 10, 20}) stack.add_anchor(step);
  const Kept newest{What::kState, kDiskTier, 20, 2, {}};
  EXPECT_EQ(stack.source(), newest);
  EXPECT_EQ(stack.held(20, stack.all()), Place::kDisk);
  stack.use_anchors(2);
  EXPECT_EQ(stack.top_step(), 10);
  EXPECT_EQ(stack.anchors().count(), 3) << "it stays on disk";
  stack.use_anchors(0);
  EXPECT_TRUE(stack.empty());
  stack.truncate_anchors(2);
  EXPECT_EQ(stack.active(), 2);
}

}  // namespace
}  // namespace anadrome::schedule

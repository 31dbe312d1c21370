// SPDX-License-Identifier: BSD-2-Clause
// What sweeps under the rules do not show: that what was popped is accounted for when it is back.
#include "schedule/stack/kept_stack.h"

#include <gtest/gtest.h>

namespace anadrome::schedule {
namespace {

TEST(KeptStack, PutsBackWhatWasPoppedWhereItWas) {
  KeptStack stack(false);
  for (const std::int64_t step : {0, 1, 2}) stack.push(step, Place::kRam, 1);
  EXPECT_EQ(stack.replace(1, 9).place, 1);
  stack.sort();
  EXPECT_EQ(stack.pop().step, 9);
  EXPECT_EQ(stack.push(5, Place::kRam, 1).place, 1) << "slot 2 is taken";
  EXPECT_EQ(stack.push(7, Place::kDisk, 0).place, 0);
  while (stack.has_entries()) stack.pop();
  EXPECT_EQ(stack.all().units, 0);
  EXPECT_EQ(stack.all().disk_slots, 0);
  EXPECT_EQ(stack.leave(2, 6).place, 1);
  stack.put_back();
  EXPECT_EQ(stack.all().units, 3);
  EXPECT_EQ(stack.all().disk_slots, 1);
  EXPECT_EQ(stack.top_step(), 7);
}

}  // namespace
}  // namespace anadrome::schedule

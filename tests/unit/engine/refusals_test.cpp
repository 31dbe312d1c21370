// SPDX-License-Identifier: BSD-2-Clause
// A call that failed is reported until one for the same option or field has succeeded.
#include "engine/asked/refusals.h"

#include <gtest/gtest.h>

namespace anadrome::engine {
namespace {

TEST(Refusals, AreReportedUntilTheyAreMadeGood) {
  Refusals refusals;
  EXPECT_FALSE(refusals.first());
  refusals.note("memory", {ANADROME_ERR_ARGUMENT, "no size"});
  refusals.note("field u", {ANADROME_ERR_UNSUPPORTED, "no such kind"});
  EXPECT_EQ(refusals.first().status, ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(refusals.first().message, "an earlier call failed: no size");
  refusals.made_good("name");
  EXPECT_TRUE(refusals.first());
  refusals.made_good("memory");
  EXPECT_EQ(refusals.first().status, ANADROME_ERR_UNSUPPORTED);
  refusals.note("field u", {ANADROME_ERR_MEMORY, "none"});
  EXPECT_EQ(refusals.first().status, ANADROME_ERR_MEMORY) << "the last word on it counts";
  refusals.made_good("field u");
  EXPECT_FALSE(refusals.first());
}

}  // namespace
}  // namespace anadrome::engine

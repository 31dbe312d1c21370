// SPDX-License-Identifier: BSD-2-Clause
// The lines of a run on standard error.
#include "engine/sweep/warnings.h"

#include <gtest/gtest.h>

#include <string>

namespace anadrome::engine {
namespace {

TEST(Warnings, AreSaidOnceInASweepByRankZero) {
  for (const bool first_rank : {true, false}) {
    const Options options;
    SweepState sweep;
    Warnings warnings(first_rank, options, sweep);
    testing::internal::CaptureStderr();
    warnings.warn({"a disk", " is full"});
    warnings.warn({"again"});
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(text, first_rank ? "anadrome: a disk is full\n" : "");
    EXPECT_TRUE(sweep.warned) << "on every rank";
  }
}

}  // namespace
}  // namespace anadrome::engine

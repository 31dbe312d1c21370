// The progress line in a log.
#include "engine/progress.h"

#include <gtest/gtest.h>

#include <string>

namespace anadrome::engine {
namespace {

TEST(Progress, SaysWhereASweepIsWhenItIsTime) {
  Progress progress;
  EXPECT_FALSE(progress.due(1e9));
  testing::internal::CaptureStderr();
  progress.start(true);
  EXPECT_TRUE(progress.due(1e9));
  progress.show(1000, false, 5, 20, 1, 3);
  EXPECT_FALSE(progress.due(1000.01));
  EXPECT_TRUE(progress.due(1010));
  progress.show(1010, true, 7, -1, 1, -1);
  progress.finish();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text, "forward  at step 5 of 20   25.0 %  3 s left\nreverse  at step 7\n");
  EXPECT_FALSE(progress.due(1e9));
}

}  // namespace
}  // namespace anadrome::engine

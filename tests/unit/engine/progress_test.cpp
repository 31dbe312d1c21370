// SPDX-License-Identifier: BSD-2-Clause
// The progress line in a log.
#include "engine/sweep/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/clock.h"

namespace anadrome::engine {
namespace {

// Lines of a sweep of so many seconds, with an action every tenth of a second.
std::string log_of(double seconds) {
  Progress progress;
  testing::internal::CaptureStderr();
  progress.start(true);
  const double start = now_seconds();
  for (double now = 0; now < seconds; now += 0.1) {
    if (progress.due(start + now)) progress.show(start + now, false, 7, 100, now, seconds - now);
  }
  progress.finish();
  return testing::internal::GetCapturedStderr();
}

std::ptrdiff_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(Progress, SaysTheTimeOfDayAndWhatIsLeft) {
  const std::string said = log_of(0.1);
  std::string time = said.substr(0, 8);
  std::replace_if(
      time.begin(), time.end(), [](char c) { return '0' <= c && c <= '9'; }, '0');
  EXPECT_EQ(time, "00:00:00") << said;
  EXPECT_TRUE(said.substr(8).starts_with("  forward  at step 7 of 100    0.0 %  ")) << said;
  EXPECT_TRUE(said.ends_with(" left\n")) << said;
}

TEST(Progress, GrowsRarerInALog) {
  EXPECT_EQ(lines(log_of(60)), 12);
  const std::ptrdiff_t ten_hours = lines(log_of(36000));
  EXPECT_GT(ten_hours, 100);
  EXPECT_LT(ten_hours, 400);
}

TEST(Progress, IsSilentIfItIsOff) {
  Progress progress;
  progress.start(false);
  EXPECT_FALSE(progress.due(now_seconds() + 1e6));
}

}  // namespace
}  // namespace anadrome::engine

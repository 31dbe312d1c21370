// SPDX-License-Identifier: BSD-2-Clause
// Lines for standard error, or for the function that takes its place.
#include "engine/asked/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/sweep/progress.h"
#include "engine/sweep/warnings.h"
#include "has_part.h"

namespace anadrome::engine {
namespace {

using Lines = std::vector<std::pair<anadrome_log_level, std::string>>;

void keep(anadrome_log_level level, const char* line, void* data) {
  static_cast<Lines*>(data)->emplace_back(level, line);
}

void throw_up(anadrome_log_level /*level*/, const char* /*line*/, void* /*data*/) {
  throw std::runtime_error("no");
}

class Log : public testing::Test {
 protected:
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { set_log(nullptr, nullptr); }
  static std::string on_standard_error() { return testing::internal::GetCapturedStderr(); }
};

TEST_F(Log, AFunctionGetsThePlainLineInPlaceOfStandardError) {
  Lines lines;
  set_log(keep, &lines);
  log_line(ANADROME_LOG_WARNING, {"a disk", " is\nfull"});
  set_log(nullptr, nullptr);
  log_line(ANADROME_LOG_WARNING, {"another", " one\n"});
  EXPECT_EQ(lines, (Lines{{ANADROME_LOG_WARNING, "a disk is?full"}}));
  EXPECT_EQ(on_standard_error(), "anadrome: another one?\n");
}

TEST_F(Log, ALineIsCutOffAndAnExceptionIsLost) {
  Lines lines;
  set_log(keep, &lines);
  log_line(ANADROME_LOG_NOTICE, {std::string(3000, 'a'), std::string(3000, 'b'), "c"});
  set_log(throw_up, nullptr);
  log_line(ANADROME_LOG_NOTICE, {"a"});
  EXPECT_EQ(lines.at(0).second, std::string(3000, 'a') + std::string(1095, 'b'));
  EXPECT_EQ(on_standard_error(), "");
}

TEST_F(Log, WarningsAndProgressGoThere) {
  Lines lines;
  set_log(keep, &lines);
  const Options options;
  SweepState sweep;
  Warnings warnings(true, options, sweep);
  warnings.warn({"full"});
  warnings.say({"goes on"}, ANADROME_LOG_NOTICE);
  Progress progress;
  progress.start(true);
  progress.show(0, true, 7, 100, 1, 1);
  progress.finish();
  ASSERT_EQ(lines.size(), 3);
  EXPECT_EQ(lines[0], (std::pair{ANADROME_LOG_WARNING, std::string("full")}));
  EXPECT_EQ(lines[1], (std::pair{ANADROME_LOG_NOTICE, std::string("goes on")}));
  EXPECT_EQ(lines[2].first, ANADROME_LOG_PROGRESS);
  EXPECT_TRUE(test::has_part(lines[2].second, "reverse  at step 7 of 100"));
  EXPECT_EQ(on_standard_error(), "");
}

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

// ---- the progress line ----

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

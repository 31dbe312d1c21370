// SPDX-License-Identifier: BSD-2-Clause
#include "engine/asked/log.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace
}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/svg.h"

#include <gtest/gtest.h>

#include <string>

namespace anadrome::tool {
namespace {

TEST(Svg, EscapesWhatWouldBeMarkup) {
  std::string text;
  TextOut out([&](std::string_view chunk) { text += chunk; });
  Svg svg(out, 100, 50, 12);
  svg.about("<a & b>", "");
  svg.text(1, 2, "x < y & z\n\033\xe2\x80\xae");
  svg.close();
  EXPECT_NE(text.find("<title>&lt;a &amp; b></title>"), std::string::npos) << text;
  EXPECT_NE(text.find(">x &lt; y &amp; z?????"
                      "</text>"),
            std::string::npos)
      << text;
}

TEST(Svg, WritesPathsWithOneDigitAfterThePoint) {
  std::string text;
  TextOut out([&](std::string_view chunk) { text += chunk; });
  Svg svg(out, 100, 50, 12);
  svg.begin_path({.stroke = "#123456", .width = 1.5});
  svg.move(1.04, 2);
  svg.line(3, 4.26);
  svg.right(-5);
  svg.down(0.5);
  svg.close_shape();
  svg.end_path();
  svg.close();
  EXPECT_NE(text.find("<path fill=\"none\" stroke=\"#123456\" stroke-width=\"1.5\" "
                      "d=\"M1 2L3 4.3h-5v0.5z\"/>"),
            std::string::npos)
      << text;
}

TEST(RoundStep, Is125TimesAPowerOfTen) {
  EXPECT_DOUBLE_EQ(round_step(10, 10), 1);
  EXPECT_DOUBLE_EQ(round_step(11, 10), 2);
  EXPECT_DOUBLE_EQ(round_step(21, 10), 5);
  EXPECT_DOUBLE_EQ(round_step(51, 10), 10);
  EXPECT_DOUBLE_EQ(round_step(0.0042, 10), 0.0005);
}

TEST(UnitFor, IsTheLongestThatATimeHasSomeOf) {
  EXPECT_STREQ(unit_for(4 * 365.25 * 86400).name, "a");
  EXPECT_STREQ(unit_for(4 * 3600).name, "h");
  EXPECT_STREQ(unit_for(179).name, "s");
  EXPECT_STREQ(unit_for(181).name, "min");
  EXPECT_STREQ(unit_for(0.5).name, "ms");
  EXPECT_STREQ(unit_for(0).name, "ns");
}

}  // namespace
}  // namespace anadrome::tool

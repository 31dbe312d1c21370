// SPDX-License-Identifier: BSD-2-Clause
#include "base/text_out.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <vector>

namespace anadrome {
namespace {

TEST(TextOut, PutsNumbersWithoutSuperfluousDigits) {
  EXPECT_EQ(format_fixed(1.5, 3), "1.5");
  EXPECT_EQ(format_fixed(20, 2), "20");
  EXPECT_EQ(format_fixed(100, 0), "100");
  EXPECT_EQ(format_fixed(-0.0004, 3), "0");
  EXPECT_EQ(format_fixed(-2.25, 1), "-2.2");
}

TEST(TextOut, PutsNoNumberThatReadersReject) {
  EXPECT_EQ(format_fixed(std::numeric_limits<double>::quiet_NaN(), 3), "0");
  EXPECT_EQ(format_fixed(std::numeric_limits<double>::infinity(), 3), "0");
}

TEST(TextOut, HandsOutChunksThatMakeUpTheText) {
  std::vector<std::string> chunks;
  TextOut out([&](std::string_view chunk) { chunks.emplace_back(chunk); });
  std::string expected;
  for (int i = -20000; i < 20000; ++i) {
    out.put("x").integer(i);
    expected += "x" + std::to_string(i);
  }
  EXPECT_GT(chunks.size(), 1U);
  out.flush();
  out.flush();
  std::string text;
  for (const std::string& chunk : chunks) {
    EXPECT_FALSE(chunk.empty());
    text += chunk;
  }
  EXPECT_EQ(text, expected);
}

TEST(FormatNumber, IsThatOfPrintf) {
  for (const double number : {0.0, 1.5, -2.25e-7, 123456.789, 9.995, 1e300}) {
    for (const int digits : {0, 1, 3}) {
      char text[400];
      std::snprintf(text, sizeof text, "%.*f", digits, number);
      EXPECT_EQ(format_number(number, std::chars_format::fixed, digits), text);
      std::snprintf(text, sizeof text, "%.*e", digits, number);
      EXPECT_EQ(format_number(number, std::chars_format::scientific, digits), text);
      std::snprintf(text, sizeof text, "%.*g", digits, number);
      EXPECT_EQ(format_number(number, std::chars_format::general, digits), text);
    }
  }
}

}  // namespace
}  // namespace anadrome

// SPDX-License-Identifier: BSD-2-Clause
#include "base/text_out.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace anadrome

// SPDX-License-Identifier: BSD-2-Clause
// Words and numbers as they are read and put out.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/plain_text.h"
#include "base/text_out.h"
#include "base/words.h"

namespace anadrome {
namespace {

TEST(Nearest, IsTheWordWithTheFewestOtherLetters) {
  constexpr std::array<std::string_view, 3> kWords = {"slots", "disk_slots", "steps"};
  EXPECT_EQ(nearest(kWords, "slot"), "slots");
  EXPECT_EQ(nearest(kWords, "diskslots"), "disk_slots");
  EXPECT_EQ(nearest(kWords, "stps"), "steps");
}

TEST(EachSetting, HandsOverKeysAndValuesInOrder) {
  std::string seen;
  each_setting("  a=1\tb=\n c=d=e ", [&](std::string_view key, std::string_view value) {
    seen += std::string(key) + ":" + std::string(value) + ";";
  });
  EXPECT_EQ(seen, "a:1;b:;c:d=e;");
  each_setting(" \n", [](std::string_view, std::string_view) { FAIL(); });
  EXPECT_THROW(each_setting("a=1 b", [](std::string_view, std::string_view) {}), Error);
}

TEST(ParseCount, TakesWholeNumbersWithinItsLimits) {
  EXPECT_EQ(parse_count("n", "100000", 0, 1'000'000), 100'000);
  EXPECT_EQ(parse_count("n", "1e5", 0, 1'000'000), 100'000);
  EXPECT_EQ(parse_count("n", "4611686018427387904", 0, std::int64_t{1} << 62),
            std::int64_t{1} << 62);
  for (const char* wrong :
       {"", "-1", "1.5", "1e", "1e-2", "9 ", "x", "11", "4611686018427387905"}) {
    EXPECT_THROW(parse_count("n", wrong, 0, 10), Error) << wrong;
  }
}

TEST(PlainText, IsOneLineThatMovesNoCursor) {
  EXPECT_EQ(plain("x\033[2J\033[31m\nother: removed\r\tz\x7f"), "x?[2J?[31m?other: removed??z?");
  EXPECT_EQ(plain("a\x9b[J"), "a?[J") << "of Latin-1";
  EXPECT_EQ(plain("a\xc2\x9b[J"), "a??[J") << "the same in UTF-8";
  EXPECT_EQ(plain("a\xe2\x80\xae[b"), "a???[b") << "written from right to left";
  EXPECT_EQ(plain("a\xd8\x9c\xe2\x81\xa6[b"), "a?????[b") << "marks and isolates of the direction";
  EXPECT_STREQ(Error(ANADROME_ERR_IO, "no such directory: a\033[2J\nb").what(),
               "no such directory: a?[2J?b");
}

TEST(PlainText, LeavesCharactersAsTheyAreAndHasNoBytesOfHalfOne) {
  for (const char* text : {"", "plain", "\xc3\xb6\xc3\x9f", "\xe6\x95\xb0", "\xf0\x9f\x90\x9f"})
    EXPECT_EQ(plain(text), text);
  for (const char* text :
       {"\xc3", "\xe6\x95", "\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80"})
    EXPECT_EQ(plain(text), std::string(std::string(text).size(), '?'));
}

TEST(TextOut, PutsNumbersWithoutSuperfluousDigits) {
  EXPECT_EQ(format_fixed(1.5, 3), "1.5");
  EXPECT_EQ(format_fixed(20, 2), "20");
  EXPECT_EQ(format_fixed(100, 0), "100");
  EXPECT_EQ(format_fixed(-0.0004, 3), "0");
  EXPECT_EQ(format_fixed(-2.25, 1), "-2.2");
  EXPECT_EQ(format_fixed(NAN, 3), "0") << "no number that readers reject";
  EXPECT_EQ(format_fixed(INFINITY, 3), "0");
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

// SPDX-License-Identifier: BSD-2-Clause
#include "base/plain_text.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace anadrome {
namespace {

TEST(PlainText, IsOneLineThatMovesNoCursor) {
  EXPECT_EQ(plain("x\033[2J\033[31m\nother: removed\r\tz\x7f"), "x?[2J?[31m?other: removed??z?");
  EXPECT_EQ(plain("a\x9b[J"), "a?[J") << "of Latin-1";
  EXPECT_EQ(plain("a\xc2\x9b[J"), "a??[J") << "the same in UTF-8";
  EXPECT_EQ(plain("a\xe2\x80\xae[b"), "a???[b") << "written from right to left";
  EXPECT_EQ(plain("a\xd8\x9c\xe2\x81\xa6[b"), "a?????[b") << "marks and isolates of the direction";
}

TEST(PlainText, LeavesCharactersAsTheyAre) {
  for (const char* text : {"", "plain", "\xc3\xb6\xc3\x9f", "\xe6\x95\xb0", "\xf0\x9f\x90\x9f"})
    EXPECT_EQ(plain(text), text);
}

TEST(PlainText, HasNoBytesOfHalfACharacter) {
  for (const char* text :
       {"\xc3", "\xe6\x95", "\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80"})
    EXPECT_EQ(plain(text), std::string(std::string(text).size(), '?'));
}

TEST(PlainText, IsThatOfErrors) {
  EXPECT_STREQ(Error(ANADROME_ERR_IO, "no such directory: a\033[2J\nb").what(),
               "no such directory: a?[2J?b");
}

}  // namespace
}  // namespace anadrome

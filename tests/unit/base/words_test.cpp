// SPDX-License-Identifier: BSD-2-Clause
#include "base/words.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/error.h"

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

}  // namespace
}  // namespace anadrome

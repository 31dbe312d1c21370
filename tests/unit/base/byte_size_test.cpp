// SPDX-License-Identifier: BSD-2-Clause
#include "base/byte_size.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "base/error.h"

namespace anadrome {
namespace {

// The message of the ERR_ARGUMENT that `parse` throws; "" if it throws nothing.
template <class Parse>
std::string refusal(Parse parse, const char* text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ANADROME_ERR_ARGUMENT) << text;
    return error.what();
  }
  return "";
}

TEST(ParseBytes, TakesPlainNumbers) {
  EXPECT_EQ(parse_bytes("0"), 0);
  EXPECT_EQ(parse_bytes("4096"), 4096);
  EXPECT_EQ(parse_bytes("4096B"), 4096);
  EXPECT_EQ(parse_bytes("4096 B"), 4096);
  EXPECT_EQ(parse_bytes("1e6"), 1000000);
}

TEST(ParseBytes, TellsPowersOf1000FromPowersOf1024) {
  EXPECT_EQ(parse_bytes("1KB"), 1000);
  EXPECT_EQ(parse_bytes("1.5 MB"), 1500000);
  EXPECT_EQ(parse_bytes("3GB"), 3000000000);
  EXPECT_EQ(parse_bytes("2TB"), 2000000000000);
  EXPECT_EQ(parse_bytes("1PB"), 1000000000000000);
  EXPECT_EQ(parse_bytes("1KiB"), 1024);
  EXPECT_EQ(parse_bytes("1.5MiB"), 1572864);
  EXPECT_EQ(parse_bytes("8GiB"), std::int64_t{8} << 30);
  EXPECT_EQ(parse_bytes("1TiB"), std::int64_t{1} << 40);
  EXPECT_EQ(parse_bytes("1 PiB"), std::int64_t{1} << 50);
}

TEST(ParseBytes, DoesNotMindTheCaseOfUnits) {
  EXPECT_EQ(parse_bytes("2gib"), std::int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("2GIB"), std::int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("2gb"), 2000000000);
  EXPECT_EQ(parse_bytes("2b"), 2);
}

TEST(ParseBytes, RoundsToWholeBytes) {
  EXPECT_EQ(parse_bytes("0.4"), 0);
  EXPECT_EQ(parse_bytes("0.1KiB"), 102);
}

TEST(ParseBytes, RefusesWhatIsNoSizeAndShowsOne) {
  for (const char* text : {"", " ", "GiB", "8 apples", "8XB", "8GiBB", "-1", "-1GiB", "+1", "nan",
                           "inf", "1e400", "0x10", "1,5GB", " 8GiB", "8GiB ", "8iB", "8Gi B"}) {
    const std::string message = refusal(parse_bytes, text);
    EXPECT_NE(message.find("'" + std::string(text) + "'"), std::string::npos) << text;
    EXPECT_NE(message.find("8GiB"), std::string::npos) << text;
  }
}

TEST(ParseBytes, RefusesWhatOverflows) {
  EXPECT_NE(refusal(parse_bytes, "9300 PB"), "");
  EXPECT_NE(refusal(parse_bytes, "9223372036854775808"), "");
  EXPECT_NE(refusal(parse_bytes, "1e300 PiB"), "");
  EXPECT_EQ(parse_bytes("8000PiB"), std::int64_t{8000} << 50);
}

TEST(ParseRate, IsASizePerSecond) {
  EXPECT_EQ(parse_rate("500MB/s"), 500000000);
  EXPECT_EQ(parse_rate("1.5 GiB/s"), (std::int64_t{3} << 30) / 2);
  EXPECT_EQ(parse_rate("1/s"), 1);
}

TEST(ParseRate, RefusesWhatIsNoRateAndShowsOne) {
  for (const char* text : {"", "/s", "s", "500MB", "500MB/h", "0MB/s", "0.4/s", "-1MB/s", "MB/s"}) {
    EXPECT_NE(refusal(parse_rate, text).find("500MB/s"), std::string::npos) << text;
  }
}

TEST(FormatBytes, ShowsThreeDigitsAndTheUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1572864), "1.50 MiB");
  EXPECT_EQ(format_bytes(std::int64_t{12345} << 10), "12.1 MiB");
  EXPECT_EQ(format_bytes(std::int64_t{500} << 40), "500 TiB");
  EXPECT_EQ(format_bytes(-1536), "-1.50 KiB");
}

TEST(FormatBytes, RoundsIntoTheNextUnit) {
  EXPECT_EQ(format_bytes(1048575), "1.00 MiB");
  EXPECT_EQ(format_bytes(10239), "10.0 KiB");
  EXPECT_EQ(format_bytes(102399), "100 KiB");
}

TEST(FormatBytes, TakesTheLargestNumbers) {
  EXPECT_EQ(format_bytes(std::numeric_limits<std::int64_t>::max()), "8.00 EiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::int64_t>::min()), "-8.00 EiB");
}

TEST(FormatBytes, IsReadBackAsTheSizeItShows) {
  for (const char* text : {"0 B", "17 B", "1.50 MiB", "12.1 MiB", "100 GiB", "8.00 TiB"}) {
    EXPECT_EQ(format_bytes(parse_bytes(text)), text);
  }
}

TEST(FormatSeconds, ChoosesTheUnit) {
  EXPECT_EQ(format_seconds(0), "0 ns");
  EXPECT_EQ(format_seconds(25e-9), "25 ns");
  EXPECT_EQ(format_seconds(1.5e-6), "1.5 us");
  EXPECT_EQ(format_seconds(0.00312), "3.12 ms");
  EXPECT_EQ(format_seconds(1), "1 s");
  EXPECT_EQ(format_seconds(59.96), "60 s");
  EXPECT_EQ(format_seconds(125), "2 min 05 s");
  EXPECT_EQ(format_seconds(4000), "1 h 07 min");
  EXPECT_EQ(format_seconds(360000), "100 h 00 min");
}

TEST(FormatSeconds, RoundsIntoTheNextUnit) {
  EXPECT_EQ(format_seconds(999.7e-9), "1 us");
  EXPECT_EQ(format_seconds(999.7e-6), "1 ms");
  EXPECT_EQ(format_seconds(0.9997), "1 s");
  EXPECT_EQ(format_seconds(119.7), "2 min 00 s");
  EXPECT_EQ(format_seconds(179.7), "3 min 00 s");
  EXPECT_EQ(format_seconds(3599.7), "1 h 00 min");
  EXPECT_EQ(format_seconds(7199), "2 h 00 min");
}

TEST(ParseBytes, TakesALetterAloneForAPowerOf1024) {
  EXPECT_EQ(parse_bytes("8G"), std::int64_t{8} << 30);
  EXPECT_EQ(parse_bytes("4k"), 4096);
}

TEST(ParseSeconds, TakesUnits) {
  EXPECT_EQ(parse_seconds("0.08"), 0.08);
  EXPECT_DOUBLE_EQ(parse_seconds("80ms"), 0.08);
  EXPECT_EQ(parse_seconds("1.5 s"), 1.5);
  EXPECT_EQ(parse_seconds("2h"), 7200);
  EXPECT_EQ(parse_seconds("30d"), 30 * 86400.0);
  for (const char* text : {"", "s", "-1", "1 week", "1m", "nan", "1e19", "1s2"}) {
    EXPECT_THROW(parse_seconds(text), Error) << text;
  }
}

TEST(Rates, AreWrittenInTheUnitThatFits) {
  EXPECT_EQ(format_rate(0.4e9), "400 MB/s");
  EXPECT_EQ(format_rate(1.234e9), "1.23 GB/s");
  EXPECT_EQ(format_rate(999.6e3), "1 MB/s");
  EXPECT_EQ(format_rate(12), "12 B/s");
  EXPECT_EQ(parse_rate("1.23GB/s"), 1230000000);
}

TEST(Counts, HaveTheirPlural) {
  EXPECT_EQ(counted(1, "slot"), "1 slot");
  EXPECT_EQ(counted(0, "slot"), "0 slots");
  EXPECT_EQ(counted(2, "slot"), "2 slots");
}

TEST(Sizes, WithAListsCommaSayThatBlanksSeparateOptions) {
  try {
    parse_bytes("1MiB,");
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "'1MiB,' is not understood; write it like 8GiB; blanks separate options");
  }
}

}  // namespace
}  // namespace anadrome

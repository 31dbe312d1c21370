// SPDX-License-Identifier: BSD-2-Clause
#include "base/byte_size.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"

namespace anadrome {
namespace {

// The message of the ERR_ARGUMENT that `parse` throws; "" if it throws nothing.
template <class Parse>
std::string refusal(Parse parse, const char* text) {
  const Failure failure = failure_from([&] { parse(text); });
  EXPECT_TRUE(!failure || failure.status == ANADROME_ERR_ARGUMENT) << text;
  return failure.message;
}

using Row = std::pair<const char*, std::int64_t>;

TEST(ParseBytes, TakesNumbersAndUnitsOf1000AndOf1024) {
  for (const auto& [text, bytes] :
       {Row("0", 0), Row("4096", 4096), Row("4096B", 4096), Row("4096 B", 4096),
        Row("1e6", 1000000), Row("1KB", 1000), Row("1.5 MB", 1500000), Row("3GB", 3000000000),
        Row("2TB", 2000000000000), Row("1PB", 1000000000000000), Row("1KiB", 1024),
        Row("1.5MiB", 1572864), Row("8GiB", 8LL << 30), Row("1TiB", 1LL << 40),
        Row("1 PiB", 1LL << 50), Row("8000PiB", 8000LL << 50),
        // in any case; a letter alone; rounded to whole bytes
        Row("2gib", 2LL << 30), Row("2GIB", 2LL << 30), Row("2gb", 2000000000), Row("2b", 2),
        Row("8G", 8LL << 30), Row("4k", 4096), Row("0.4", 0), Row("0.1KiB", 102)}) {
    EXPECT_EQ(parse_bytes(text), bytes) << text;
  }
}

TEST(ParseBytes, RefusesWhatIsNoSizeAndShowsOne) {
  for (const char* text : {"", " ", "GiB", "8 apples", "8XB", "8GiBB", "-1", "-1GiB", "+1", "nan",
                           "inf", "1e400", "0x10", "1,5GB", " 8GiB", "8GiB ", "8iB", "8Gi B"}) {
    const std::string message = refusal(parse_bytes, text);
    EXPECT_NE(message.find("'" + std::string(text) + "'"), std::string::npos) << text;
    EXPECT_NE(message.find("8GiB"), std::string::npos) << text;
  }
  for (const char* text : {"9300 PB", "9223372036854775808", "1e300 PiB"})
    EXPECT_NE(refusal(parse_bytes, text), "") << text;
  EXPECT_EQ(refusal(parse_bytes, "1MiB,"),
            "'1MiB,' is not understood; write it like 8GiB; blanks separate options");
}

TEST(ParseRate, IsASizePerSecond) {
  for (const auto& [text, bytes] : {Row("500MB/s", 500000000), Row("1.5 GiB/s", 3LL << 29),
                                    Row("1/s", 1), Row("1.23GB/s", 1230000000)}) {
    EXPECT_EQ(parse_rate(text), bytes) << text;
  }
  for (const char* text : {"", "/s", "s", "500MB", "500MB/h", "0MB/s", "0.4/s", "-1MB/s", "MB/s"})
    EXPECT_NE(refusal(parse_rate, text).find("500MB/s"), std::string::npos) << text;
}

TEST(ParseSeconds, TakesUnits) {
  using Time = std::pair<const char*, double>;
  for (const auto& [text, seconds] : {Time("0.08", 0.08), Time("80ms", 0.08), Time("1.5 s", 1.5),
                                      Time("2h", 7200), Time("30d", 30 * 86400.0)}) {
    EXPECT_DOUBLE_EQ(parse_seconds(text), seconds) << text;
  }
  for (const char* text : {"", "s", "-1", "1 week", "1m", "nan", "1e19", "1s2"})
    EXPECT_THROW(parse_seconds(text), Error) << text;
}

TEST(FormatBytes, ShowsThreeDigitsAndTheUnit) {
  using limits = std::numeric_limits<std::int64_t>;
  for (const auto& [text, bytes] :
       {Row("0 B", 0), Row("1023 B", 1023), Row("1.00 KiB", 1024), Row("1.50 MiB", 1572864),
        Row("12.1 MiB", 12345LL << 10), Row("500 TiB", 500LL << 40), Row("-1.50 KiB", -1536),
        // rounded into the next unit; the largest
        Row("1.00 MiB", 1048575), Row("10.0 KiB", 10239), Row("100 KiB", 102399),
        Row("8.00 EiB", limits::max()), Row("-8.00 EiB", limits::min())}) {
    EXPECT_EQ(format_bytes(bytes), text);
  }
  for (const char* text : {"0 B", "17 B", "1.50 MiB", "12.1 MiB", "100 GiB", "8.00 TiB"})
    EXPECT_EQ(format_bytes(parse_bytes(text)), text) << "it is read back as the size it shows";
}

TEST(FormatSeconds, ChoosesTheUnitAndRoundsIntoTheNext) {
  using Shown = std::pair<double, const char*>;
  for (const auto& [seconds, text] :
       {Shown(0, "0 ns"), Shown(25e-9, "25 ns"), Shown(1.5e-6, "1.5 us"), Shown(0.00312, "3.12 ms"),
        Shown(1, "1 s"), Shown(59.96, "60 s"), Shown(125, "2 min 05 s"), Shown(4000, "1 h 07 min"),
        Shown(360000, "100 h 00 min"), Shown(999.7e-9, "1 us"), Shown(999.7e-6, "1 ms"),
        Shown(0.9997, "1 s"), Shown(119.7, "2 min 00 s"), Shown(179.7, "3 min 00 s"),
        Shown(3599.7, "1 h 00 min"), Shown(7199, "2 h 00 min")}) {
    EXPECT_EQ(format_seconds(seconds), text) << seconds;
  }
}

TEST(Rates, AreWrittenInTheUnitThatFits) {
  EXPECT_EQ(format_rate(0.4e9), "400 MB/s");
  EXPECT_EQ(format_rate(1.234e9), "1.23 GB/s");
  EXPECT_EQ(format_rate(999.6e3), "1 MB/s");
  EXPECT_EQ(format_rate(12), "12 B/s");
}

TEST(Counts, HaveTheirPlural) {
  for (const auto& [count, text] : {std::pair(0, "0 slots"), {1, "1 slot"}, {2, "2 slots"}})
    EXPECT_EQ(counted(count, "slot"), text);
}

}  // namespace
}  // namespace anadrome

// SPDX-License-Identifier: BSD-2-Clause
// What two ranks did, one with twice the other's state: as rank 0 tells it.
#include "engine/report/report.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>

#include "base/byte_size.h"
#include "desk.h"

namespace anadrome::engine {
namespace {

struct Told {
  std::array<anadrome_stats, 2> stats;  ///< by rank
  std::string text;                     ///< of rank 0's file

  bool has(const std::string& words) const { return text.find(words) != std::string::npos; }
};

// Each asks for a report in a file of its own.
Told told() {
  const store::TemporaryDirectory directory;
  Told told;
  ThreadRanks::run(2, [&](Ranks& ranks) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    Desk desk(ranks, kState << rank, 0);
    desk.options.layout = Layout::kRank;
    desk.options.memory = 16 * kState;
    desk.options.report = directory / std::to_string(rank);
    desk.script("async");
    for (std::int64_t number = 0; number < 16; ++number) desk.keep_anchor(number);
    desk.keeper.disk_tier()->flush();
    desk.sweep.copies.seconds = rank == 0 ? 2 : 3;
    desk.report.write();
    told.stats[rank] = desk.report.statistics();
    desk.keeper.abandon();
  });
  EXPECT_FALSE(std::ifstream(directory / "1").is_open()) << "rank 0 alone writes";
  std::ifstream file(directory / "0");
  told.text = {std::istreambuf_iterator<char>(file), {}};
  return told;
}

TEST(Report, AddsUpWhatRanksMovedAndNamesTheMostThatOneOfThemTook) {
  const Told both = told();
  const auto& [smaller, larger] = both.stats;
  ASSERT_GT(larger.bytes_written, smaller.bytes_written);
  ASSERT_GT(larger.peak_library_bytes, smaller.peak_library_bytes);
  EXPECT_TRUE(both.has(format_bytes(smaller.bytes_written + larger.bytes_written) + " written"))
      << both.text;
  EXPECT_TRUE(both.has(format_bytes(larger.peak_library_bytes) + " of ")) << both.text;
  EXPECT_TRUE(both.has("restored, 3 s")) << both.text;
}

}  // namespace
}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/ranks/agreement.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "thread_ranks.h"

namespace anadrome::engine {
namespace {

constexpr int kRanks = 3;

// The error that agree threw on each rank; "" where it did not.
std::array<std::string, kRanks> thrown(const std::function<Agreement::Input(int rank)>& input) {
  std::array<std::string, kRanks> texts;
  ThreadRanks::run(kRanks, [&](Ranks& ranks) {
    Agreement agreement(ranks);
    const Failure failure = failure_from([&] { agreement.agree(input(ranks.rank())); });
    texts[static_cast<std::size_t>(ranks.rank())] = failure.message;
  });
  return texts;
}

TEST(Agreement, ComesOutTheSameOnAllRanks) {
  std::array<Agreement::Output, kRanks> outputs;
  ThreadRanks::run(kRanks, [&](Ranks& ranks) {
    const int rank = ranks.rank();
    Agreement agreement(ranks);
    Agreement::Input input;
    input.call = Call::kAnchor;
    input.largest = {0.5 * rank, 0.0, 3.0 - rank, 0, 0, 1e-300};
    input.smallest = 7 - rank;
    input.commit = rank == 1 ? Agreement::Input::Commit::kBusy : Agreement::Input::Commit::kDue;
    input.committed = 10 + rank;
    outputs[static_cast<std::size_t>(rank)] = agreement.agree(input);
  });
  for (const Agreement::Output& output : outputs) {
    EXPECT_EQ(output.largest, (Agreement::Numbers{1.0, 0, 3.0, 0, 0, 1e-300}));
    EXPECT_EQ(output.smallest, 5);
    EXPECT_EQ(output.commit, Agreement::Input::Commit::kBusy);
    EXPECT_EQ(output.committed, 10);
    EXPECT_FALSE(output.stop);
    EXPECT_FALSE(output.lost);
  }
}

TEST(Agreement, ThrowsTheLowestFailingRanksErrorOnAll) {
  const auto texts = thrown([](int rank) {
    Agreement::Input input;
    if (rank > 0) input.failure = {ANADROME_ERR_IO, "disk " + std::to_string(rank)};
    return input;
  });
  for (const std::string& text : texts) EXPECT_EQ(text, "rank 1: disk 1");
}

TEST(Agreement, HandsOutWhatARankLostWithoutThrowing) {
  std::array<Failure, kRanks> lost;
  ThreadRanks::run(kRanks, [&](Ranks& ranks) {
    Agreement agreement(ranks);
    Agreement::Input input;
    if (ranks.rank() == 2) input.lost = {ANADROME_ERR_CORRUPT, "another checksum"};
    lost[static_cast<std::size_t>(ranks.rank())] = agreement.agree(input).lost;
  });
  for (const Failure& failure : lost) {
    EXPECT_EQ(failure.status, ANADROME_ERR_CORRUPT);
    EXPECT_EQ(failure.message, "rank 2: another checksum");
  }
}

TEST(Agreement, NamesTheRanksThatAreInDifferentCallsAndTheCureAndIsBrokenThen) {
  const std::string kCure =
      "; a rank that has to leave the loop calls anadrome_fail in its place, and goes on";
  std::array<bool, kRanks> broken{};
  std::array<std::string, kRanks> texts;
  ThreadRanks::run(kRanks, [&](Ranks& ranks) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    Agreement agreement(ranks);
    const Call call = rank == 2 ? Call::kClose : Call::kAnchor;
    texts[rank] = failure_from([&] { agreement.agree({.call = call, .failure = {}}); }).message;
    broken[rank] = agreement.broken();
  });
  EXPECT_EQ(broken, (std::array<bool, kRanks>{true, true, true}));
  EXPECT_EQ(texts[0],
            "rank 2 is in anadrome_close while rank 0 is in anadrome_next (at an anchor)" + kCure);
  EXPECT_EQ(texts[2],
            "rank 0 is in anadrome_next (at an anchor) while rank 2 is in anadrome_close" + kCure);
}

// A rank whose callbacks fail ends its sweep before the others.
TEST(Agreement, NamesTheFailureThatLedRanksIntoDifferentCallsAndIsBrokenThen) {
  std::array<bool, kRanks> broken{};
  std::array<std::string, kRanks> texts;
  ThreadRanks::run(kRanks, [&](Ranks& ranks) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    Agreement agreement(ranks);
    Agreement::Input input = {.call = Call::kAnchor, .failure = {}};
    if (rank == 1) input = {.call = Call::kTurn, .failure = {ANADROME_ERR_PEER, "a callback"}};
    texts[rank] = failure_from([&] { agreement.agree(input); }).message;
    broken[rank] = agreement.broken();
  });
  EXPECT_EQ(broken, (std::array<bool, kRanks>{true, true, true}));
  for (const std::string& text : texts) EXPECT_EQ(text, "rank 1: a callback");
}

TEST(Agreement, SaysBetweenWhichValuesRanksDiffer) {
  const auto texts = thrown([](int rank) {
    Agreement::Input input;
    input.equal = 5 - rank;
    input.equal_name = "the number of steps";
    return input;
  });
  for (const std::string& text : texts) {
    EXPECT_EQ(text, "the number of steps differs between ranks: from 3 to 5");
  }
}

TEST(Agreement, ThrowsAStopUnlessItIsHeld) {
  for (const bool hold : {false, true}) {
    const auto texts = thrown([hold](int rank) {
      Agreement::Input input;
      input.stop = rank == 1;
      input.hold_stop = hold;
      return input;
    });
    for (const std::string& text : texts) EXPECT_EQ(text.empty(), hold);
  }
}

}  // namespace
}  // namespace anadrome::engine

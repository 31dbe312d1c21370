// SPDX-License-Identifier: BSD-2-Clause
#include "engine/ranks/agreement.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "thread_ranks.h"

namespace anadrome::engine {
namespace {

using Input = Agreement::Input;

// What each of three ranks gets; where agree throws, its error, and whether the agreement is
// broken.
struct Agreed {
  Agreement::Output output;
  std::string error;
  bool broken = false;
};
std::array<Agreed, 3> agree_on(const std::function<Input(int rank)>& input) {
  std::array<Agreed, 3> all;
  ThreadRanks::run(3, [&](Ranks& ranks) {
    Agreement agreement(ranks);
    Agreed& mine = all[static_cast<std::size_t>(ranks.rank())];
    mine.error = failure_from([&] { mine.output = agreement.agree(input(ranks.rank())); }).message;
    mine.broken = agreement.broken();
  });
  return all;
}

TEST(Agreement, ComesOutTheSameOnAllRanks) {
  for (const auto& [output, error, broken] : agree_on([](int rank) {
         Input input;
         input.call = Call::kAnchor;
         input.largest = {0.5 * rank, 0.0, 3.0 - rank, 0, 0, 1e-300};
         input.smallest = 7 - rank;
         input.commit = rank == 1 ? Input::Commit::kBusy : Input::Commit::kDue;
         input.committed = 10 + rank;
         if (rank == 2) input.lost = {ANADROME_ERR_CORRUPT, "another checksum"};
         return input;
       })) {
    EXPECT_EQ(error, "");
    EXPECT_EQ(output.largest, (Agreement::Numbers{1.0, 0, 3.0, 0, 0, 1e-300}));
    EXPECT_EQ(output.smallest, 5);
    EXPECT_EQ(output.commit, Input::Commit::kBusy);
    EXPECT_EQ(output.committed, 10);
    EXPECT_FALSE(output.stop);
    EXPECT_EQ(output.lost.status, ANADROME_ERR_CORRUPT);
    EXPECT_EQ(output.lost.message, "rank 2: another checksum");
  }
}

TEST(Agreement, NamesTheRanksThatAreInDifferentCallsAndTheCureAndIsBrokenThen) {
  const std::string kCure =
      "; a rank that has to leave the loop calls anadrome_fail in its place, and goes on";
  const auto all = agree_on([](int rank) {
    return Input{.call = rank == 2 ? Call::kClose : Call::kAnchor, .failure = {}};
  });
  for (const Agreed& each : all) EXPECT_TRUE(each.broken);
  EXPECT_EQ(all[0].error,
            "rank 2 is in anadrome_close while rank 0 is in anadrome_next (at an anchor)" + kCure);
  EXPECT_EQ(all[2].error,
            "rank 0 is in anadrome_next (at an anchor) while rank 2 is in anadrome_close" + kCure);
}

TEST(Agreement, ThrowsTheSameErrorOnAll) {
  const struct {
    const char* what;
    std::function<void(int rank, Input& input)> differs;
    const char* error;
    bool broken;
  } rows[] = {{"of the lowest rank that failed",
               [](int rank, Input& input) {
                 if (rank > 0) input.failure = {ANADROME_ERR_IO, "disk " + std::to_string(rank)};
               },
               "rank 1: disk 1", false},
              {"of a callback, after which its rank is in another call",
               [](int rank, Input& input) {
                 if (rank == 1)
                   input = {.call = Call::kTurn, .failure = {ANADROME_ERR_PEER, "a callback"}};
               },
               "rank 1: a callback", true},
              {"that numbers differ",
               [](int rank, Input& input) {
                 input.equal = 5 - rank;
                 input.equal_name = "the number of steps";
               },
               "the number of steps differs between ranks: from 3 to 5", false},
              {"none where a stop is held",
               [](int rank, Input& input) {
                 input.stop = rank == 1;
                 input.hold_stop = true;
               },
               "", false}};
  for (const auto& [what, differs, error, broken] : rows) {
    for (const Agreed& each : agree_on([&differs = differs](int rank) {
           Input input = {.call = Call::kAnchor, .failure = {}};
           differs(rank, input);
           return input;
         })) {
      EXPECT_EQ(each.error, error) << what;
      EXPECT_EQ(each.broken, broken) << what;
    }
  }
  for (const Agreed& each : agree_on([](int rank) {
         Input input;
         input.stop = rank == 1;
         return input;
       }))
    EXPECT_NE(each.error, "") << "a stop";
}

}  // namespace
}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
#include "store/moving/codec_choice.h"

#include <gtest/gtest.h>

#include <map>

namespace anadrome::store {
namespace {

using Name = CodecName;
const std::vector<Name> kAll = {CodecName::kFloat32, CodecName::kRound, CodecName::kZfp};

// Blocks that each codec got, which takes so long with each.
std::map<Name, int> blocks(CodecChoice& choice, int count, const std::map<Name, double>& seconds,
                           double computed = 0) {
  std::map<Name, int> got;
  for (int i = 0; i < count; ++i) {
    const Name name = choice.next();
    ++got[name];
    choice.note(seconds.at(name), name == CodecName::kFloat32 ? 0 : computed, 1000);
  }
  return got;
}

TEST(CodecChoice, TakesTheQuickest) {
  CodecChoice choice(kAll, false);
  const auto got = blocks(
      choice, 300, {{CodecName::kFloat32, 3}, {CodecName::kRound, 2}, {CodecName::kZfp, 4}}, 2);
  EXPECT_GT(got.at(CodecName::kRound), 280);
}

TEST(CodecChoice, FollowsWhatChanges) {
  CodecChoice choice(kAll, false);
  std::map<Name, double> seconds = {
      {CodecName::kFloat32, 3}, {CodecName::kRound, 2}, {CodecName::kZfp, 4}};
  blocks(choice, 100, seconds);
  seconds = {{CodecName::kFloat32, 3}, {CodecName::kRound, 5}, {CodecName::kZfp, 4}};
  blocks(choice, 100, seconds);
  EXPECT_GT(blocks(choice, 100, seconds).at(CodecName::kFloat32), 90);
  seconds[CodecName::kZfp] = 1;
  blocks(choice, 300, seconds);
  EXPECT_GT(blocks(choice, 100, seconds).at(CodecName::kZfp), 90);
}

TEST(CodecChoice, CountsTheSolversTimeWhereEveryCoreComputes) {
  const std::map<Name, double> seconds = {
      {CodecName::kFloat32, 3}, {CodecName::kRound, 2}, {CodecName::kZfp, 4}};
  CodecChoice busy(kAll, true);
  EXPECT_GT(blocks(busy, 300, seconds, 2).at(CodecName::kFloat32), 280);
}

TEST(CodecChoice, HasNoneWhereThereIsOne) {
  const std::vector<Name> one = {CodecName::kZfp};
  CodecChoice choice(one, false);
  EXPECT_EQ(blocks(choice, 50, {{CodecName::kZfp, 1}}).at(CodecName::kZfp), 50);
}

}  // namespace
}  // namespace anadrome::store

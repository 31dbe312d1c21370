// SPDX-License-Identifier: BSD-2-Clause
#include "store/codec_choice.h"

#include <gtest/gtest.h>

#include <map>

namespace anadrome::store {
namespace {

using Name = std::optional<CodecName>;
const std::vector<Name> kAll = {std::nullopt, CodecName::kLz4, CodecName::kZstd};

// Blocks that each codec got, which takes so long with each.
std::map<Name, int> blocks(CodecChoice& choice, int count, const std::map<Name, double>& seconds,
                           double computed = 0) {
  std::map<Name, int> got;
  for (int i = 0; i < count; ++i) {
    const Name name = choice.next();
    ++got[name];
    choice.note(seconds.at(name), name ? computed : 0, 1000);
  }
  return got;
}

TEST(CodecChoice, TakesTheQuickest) {
  CodecChoice choice(kAll, false);
  const auto got =
      blocks(choice, 300, {{std::nullopt, 3}, {CodecName::kLz4, 2}, {CodecName::kZstd, 4}}, 2);
  EXPECT_GT(got.at(CodecName::kLz4), 280);
}

TEST(CodecChoice, FollowsWhatChanges) {
  CodecChoice choice(kAll, false);
  std::map<Name, double> seconds = {{std::nullopt, 3}, {CodecName::kLz4, 2}, {CodecName::kZstd, 4}};
  blocks(choice, 100, seconds);
  seconds = {{std::nullopt, 3}, {CodecName::kLz4, 5}, {CodecName::kZstd, 4}};
  blocks(choice, 100, seconds);
  EXPECT_GT(blocks(choice, 100, seconds).at(std::nullopt), 90);
  seconds[CodecName::kZstd] = 1;
  blocks(choice, 300, seconds);
  EXPECT_GT(blocks(choice, 100, seconds).at(CodecName::kZstd), 90);
}

TEST(CodecChoice, CountsTheSolversTimeWhereEveryCoreComputes) {
  const std::map<Name, double> seconds = {
      {std::nullopt, 3}, {CodecName::kLz4, 2}, {CodecName::kZstd, 4}};
  CodecChoice busy(kAll, true);
  EXPECT_GT(blocks(busy, 300, seconds, 2).at(std::nullopt), 280);
}

TEST(CodecChoice, HasNoneWhereThereIsOne) {
  const std::vector<Name> one = {CodecName::kZfp};
  CodecChoice choice(one, false);
  EXPECT_EQ(blocks(choice, 50, {{CodecName::kZfp, 1}}).at(CodecName::kZfp), 50);
}

}  // namespace
}  // namespace anadrome::store

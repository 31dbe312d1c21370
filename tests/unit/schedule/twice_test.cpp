// SPDX-License-Identifier: BSD-2-Clause
// Intervals whose actions are asked for twice, as a probe does.
#include <gtest/gtest.h>

#include <optional>
#include <variant>
#include <vector>

#include "replay.h"

namespace anadrome::schedule {
namespace {

// Plays a sweep under the rules; every interval that begins at an anchor twice.
void play_twice(const AnchoredCase& given) {
  AskedSweep sweep(given);
  Rules rules(sweep.rules());
  std::optional<Rules> marked;
  std::optional<Restore> anchor;
  bool again = false, turned = false;
  std::vector<Action> first, second;
  std::int64_t intervals = 0;
  for (;;) {
    const Action action = sweep.next();
    const auto* const drop = std::get_if<Drop>(&action);
    const bool ends = anchor && ((drop != nullptr && drop->tier == kDiskTier) ||
                                 (sweep->course().adjoints_left == 0 && drop == nullptr &&
                                  !std::holds_alternative<Adjoint>(action)));
    if (ends && !again) {
      sweep->go_back();
      rules = Rules(*marked);
      again = true;
      second = {};
      continue;
    }
    rules.play(action);
    if (ends) {
      EXPECT_TRUE(first == second);
      ++intervals;
      anchor.reset();
    }
    turned = turned || std::holds_alternative<Turn>(action);
    if (std::holds_alternative<Done>(action)) break;
    (again ? second : first).push_back(action);
    const auto* const restore = std::get_if<Restore>(&action);
    if (!anchor && turned && restore != nullptr && restore->tier == kDiskTier &&
        sweep->course().adjoints_left > 0 && sweep->mark()) {
      anchor = *restore;
      marked.emplace(rules);
      again = false;
      first = {};
    }
  }
  EXPECT_GT(intervals, 0);
  EXPECT_EQ(rules.taken().adjoints, given.steps);
}

TEST(Twice, AnIntervalTakesTheSameActionsAgain) {
  for (const bool record : {false, true}) {
    for (const std::int64_t tape_units : {0, 2}) {
      if (!record && tape_units > 0) continue;
      for (const std::int64_t slots : {2, 3, 5}) {
        for (const std::int64_t interval : {1, 3, 7}) {
          AnchoredCase given = {.steps = 40,
                                .slots = slots,
                                .anchored = true,
                                .interval = interval,
                                .record = record,
                                .tape_units = tape_units};
          SCOPED_TRACE(testing::Message() << record << tape_units << slots << interval);
          play_twice(given);
        }
      }
    }
  }
}

}  // namespace
}  // namespace anadrome::schedule

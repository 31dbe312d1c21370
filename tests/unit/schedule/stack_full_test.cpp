// SPDX-License-Identifier: BSD-2-Clause
// Sweeps whose disk takes no more states on the way: as cheap as Revolve with what there is, never
// dearer than Revolve without the disk, in all of the memory.
#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/rows.h"
#include "schedule/words/rules.h"

namespace anadrome::schedule {
namespace {

/// `blocks` of memory, of which one is for reading ahead.
Problem stack_problem(std::int64_t steps, std::int64_t blocks) {
  Problem problem;
  problem.sizing.steps = steps;
  problem.costs = {1, 2, 3, 3, 0, 0};
  problem.shared.blocks = blocks;
  problem.blocks_on_disk = kNoLimit;
  problem.read_ahead = 1;
  problem.slots = problem.shared.slots(1);
  return problem;
}

struct Disk {
  std::int64_t places = 0;  ///< until it is full
  std::int64_t lose = 0;    ///< the restore of a state on it that fails afterwards; 0: none
};

RuleOptions rules_of(const Problem& problem) {
  return {.steps = {problem.sizing.steps},
          .units = problem.shared.blocks,
          .tape_units = problem.shared.tape_units,
          .record = problem.sizing.record};
}

class Player {
 public:
  Player(Sweep& sweep, const Problem& problem, const Disk& disk)
      : sweep_(sweep), problem_(problem), disk_(disk), rules_(rules_of(problem)) {}

  Taken play() {
    std::int64_t promised = kUnknown, promised_at = 0;
    while (!rules_.done()) {
      const Action action = sweep_.next();
      rules_.play(action);
      if (const auto* kept = std::get_if<Keep>(&action); kept != nullptr && refuses(*kept)) {
        full_ = true;
        sweep_.disk_is_full({problem_.shared.blocks});
        promised = sweep_.advances_remaining();
        promised_at = advances();
      }
      if (std::holds_alternative<Decide>(action)) decide();
      const auto* restored = std::get_if<Restore>(&action);
      if (restored == nullptr || !loses(*restored)) continue;
      rules_.lose(restored->place);
      promised = kUnknown;
      if (!sweep_.lose(restored->place)) return rules_.taken();  // x_0
    }
    EXPECT_TRUE(promised == kUnknown || promised == advances() - promised_at)
        << promised << " were promised, and " << advances() - promised_at << " came";
    return rules_.taken();
  }
  bool done() const { return rules_.done(); }
  bool was_full() const { return full_; }

 private:
  std::int64_t advances() const { return rules_.taken().advances + rules_.taken().recorded; }
  bool refuses(const Keep& kept) const {
    return kept.tier == kDiskTier && kept.place >= disk_.places;
  }
  bool loses(const Restore& kept) {
    return full_ && kept.tier == kDiskTier && disk_.lose > 0 && --disk_.lose == 0;
  }
  void decide() {
    const Measured measured{.costs = problem_.costs, .write_times_known = true};
    while (sweep_.decide(measured) != Next::kGoOn) {
    }
  }

  Sweep& sweep_;
  const Problem& problem_;
  Disk disk_;
  Rules rules_;
  bool full_ = false;
};

TEST(FullDisk, GivesAnAsyncSweepAllOfTheMemoryBeyondTheNewestAnchor) {
  for (const bool record : {false, true}) {
    for (std::int64_t anchors = 1; anchors <= 8; ++anchors) {
      constexpr std::int64_t kSteps = 200, kInterval = 10, kBlocks = 3;
      Problem problem = stack_problem(kSteps, kBlocks);
      problem.sizing.interval = kInterval;
      problem.sizing.record = record;
      const SweepPtr sweep = make_async(problem);
      Player player(*sweep, problem, {anchors});
      const Taken taken = player.play();
      EXPECT_TRUE(player.was_full());
      // Intervals as before, and at most two of them beyond the anchors that the disk has.
      const std::int64_t rest = kSteps - anchors * kInterval + (record ? 0 : 1);
      const auto above = static_cast<std::int64_t>(extra_advances(rest, kBlocks));
      const auto interval = static_cast<std::int64_t>(extra_advances(kInterval, kBlocks - 1));
      EXPECT_LE(taken.advances, above + anchors * (interval + kInterval)) << anchors;
    }
  }
}

// With as many blocks as can be for reading ahead, there may be more states in memory than slots
// are left below the full disk.
TEST(FullDisk, LetsAnAsyncSweepEndHoweverMuchIsReadAhead) {
  for (std::int64_t blocks = 2; blocks <= 5; ++blocks) {
    for (std::int64_t read_ahead = 1; read_ahead < blocks; ++read_ahead) {
      for (std::int64_t interval = 2; interval <= 12; ++interval) {
        for (const std::int64_t places : {1, 2, 5, 9}) {
          for (const std::int64_t lose : {0, 1, 3}) {
            Problem problem = stack_problem(60, blocks);
            problem.read_ahead = read_ahead;
            problem.slots = problem.shared.slots(read_ahead);
            problem.sizing.interval = interval;
            const SweepPtr sweep = make_async(problem);
            Player player(*sweep, problem, {places, lose});
            ASSERT_NO_THROW(player.play());
            EXPECT_TRUE(player.done() || lose > 0);
          }
        }
      }
    }
  }
}

// As compressed states turn out to take less than was thought, or more.
TEST(FullDisk, HoldsMoreAnchorsThanTheSweepBeganWithOrFewer) {
  const auto anchors_of = [](std::int64_t at_first, std::int64_t later) {
    Problem problem = stack_problem(100, 3);
    problem.sizing.interval = 5;
    problem.blocks_on_disk = at_first;
    const SweepPtr sweep = make_async(problem);
    Rules rules(rules_of(problem));
    while (!rules.done()) {
      const Action action = sweep->next();
      rules.play(action);
      const auto* kept = std::get_if<Keep>(&action);
      if (kept != nullptr && kept->tier != kRamTier && kept->place == 2) {
        sweep->disk_holds(later);
        rules.allow_on_disk(later);
      }
    }
    return rules.taken().anchors;
  };
  EXPECT_EQ(anchors_of(6, 6), 6);
  EXPECT_EQ(anchors_of(6, 10), 10);
  EXPECT_EQ(anchors_of(6, 4), 4);
  EXPECT_EQ(anchors_of(6, 0), 3) << "those that there are";
}

}  // namespace
}  // namespace anadrome::schedule

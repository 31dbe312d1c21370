// SPDX-License-Identifier: BSD-2-Clause
// Sweeps whose disk takes no more states on the way: as cheap as Revolve with what there is, never
// dearer than Revolve without the disk in all of the memory, and as many steps as are told.
#include "schedule/anchored/full_disk.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "replay.h"
#include "schedule/rows.h"

namespace anadrome::schedule {
namespace {

Problem stack_problem(std::int64_t steps, std::int64_t blocks, std::int64_t interval,
                      std::int64_t read_ahead = 1) {
  Problem problem;
  problem.sizing.steps = steps;
  problem.sizing.interval = interval;
  problem.costs = {1, 2, 3, 3, 0, 0};
  problem.shared.blocks = blocks;
  problem.blocks_on_disk = kNoLimit;
  problem.read_ahead = std::min(read_ahead, blocks - 1);
  problem.slots = problem.shared.slots(problem.read_ahead);
  return problem;
}

RuleOptions rules_of(const Problem& problem) {
  return {.steps = {problem.sizing.steps},
          .units = problem.shared.blocks,
          .tape_units = problem.shared.tape_units,
          .record = problem.sizing.record,
          .anchors_stay = true};
}

struct Disk {
  std::int64_t places = 0;    ///< until it is full
  std::int64_t lose = 0;      ///< the restore of a state on it that fails afterwards; 0: none
  bool news_is_late = false;  ///< as in a run: the sweep has said already what follows
};

class Player {
 public:
  Player(const Problem& problem, const Disk& disk)
      : problem_(problem), disk_(disk), sweep_(make_async(problem_)), rules_(rules_of(problem)) {}

  Taken play() {
    bool refused = false;
    while (!rules_.done()) {
      const Action action = sweep_->next();
      if (std::exchange(refused, false)) tell();
      rules_.play(action);
      const auto* const kept = std::get_if<Keep>(&action);
      if (kept != nullptr && kept->tier == kDiskTier && kept->place >= disk_.places && !full_) {
        full_ = true;
        if (disk_.news_is_late) {
          refused = true;
        } else {
          tell();
          promised_ = sweep_->advances_remaining();
          promised_at_ = advances();
        }
      }
      if (std::holds_alternative<Decide>(action)) decide();
      const auto* const restored = std::get_if<Restore>(&action);
      if (restored == nullptr || !loses(*restored)) continue;
      rules_.lose(restored->place);
      promised_ = kUnknown;
      if (!sweep_->lose(restored->place)) return rules_.taken();  // x_0
    }
    EXPECT_TRUE(promised_ == kUnknown || promised_ == advances() - promised_at_)
        << promised_ << " were promised, and " << advances() - promised_at_ << " came";
    return rules_.taken();
  }
  bool done() const { return rules_.done(); }
  bool was_full() const { return full_; }

 private:
  std::int64_t advances() const { return rules_.taken().advances + rules_.taken().recorded; }
  void tell() { sweep_->disk_is_full({problem_.shared.blocks}); }
  bool loses(const Restore& kept) {
    return full_ && kept.tier == kDiskTier && disk_.lose > 0 && --disk_.lose == 0;
  }
  void decide() {
    do {
      ++measured_.agreement;
    } while (sweep_->decide(measured_) != Next::kGoOn);
  }

  Problem problem_;
  Disk disk_;
  SweepPtr sweep_;
  Rules rules_;
  Measured measured_ = {
      .costs = problem_.costs, .write_times_known = true, .of_earlier_sweep = true};
  bool full_ = false;
  std::int64_t promised_ = kUnknown, promised_at_ = 0;
};

TEST(FullDisk, GivesAnAsyncSweepAllOfTheMemoryBeyondTheNewestAnchor) {
  for (const bool record : {false, true}) {
    for (std::int64_t anchors = 1; anchors <= 8; ++anchors) {
      constexpr std::int64_t kSteps = 200, kInterval = 10, kBlocks = 3;
      Problem problem = stack_problem(kSteps, kBlocks, kInterval);
      problem.sizing.record = record;
      Player player(problem, {anchors});
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
            Player player(stack_problem(60, blocks, interval, read_ahead), {places, lose});
            ASSERT_NO_THROW(player.play());
            EXPECT_TRUE(player.done() || lose > 0);
          }
        }
      }
    }
  }
}

TEST(FullDisk, TellsTheStepsThatTheSweepTakes) {
  Draw below(20261124);
  for (int trial = 0; trial < 150; ++trial) {
    Problem problem = stack_problem(1 + below(200), 1 + below(12), 0);
    problem.costs.write = problem.costs.read = static_cast<double>(below(41)) / 4;
    const std::int64_t anchors = 1 + below(30);
    const Measured measured = {
        .costs = problem.costs, .write_times_known = true, .of_earlier_sweep = true};
    const SweepPtr sweep = make_async(problem);
    ASSERT_EQ(advances_on_full_disk(*sweep, measured, anchors, {problem.shared.blocks}),
              Player(problem, {anchors, 0, true}).play().advances)
        << "steps " << problem.sizing.steps << ", blocks " << problem.shared.blocks << ", anchors "
        << anchors << ", write " << problem.costs.write;
  }
}

// As compressed states turn out to take less than was thought, or more.
TEST(FullDisk, HoldsMoreAnchorsThanTheSweepBeganWithOrFewer) {
  const auto anchors_of = [](std::int64_t at_first, std::int64_t later) {
    Problem problem = stack_problem(100, 3, 5);
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

// SPDX-License-Identifier: BSD-2-Clause
// Sweeps whose disk takes no more states on the way: as cheap as Revolve with what there is, never
// dearer than Revolve without the disk, in all of the memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "schedule/rows.h"
#include "schedule/rules.h"

namespace anadrome::schedule {
namespace {

using Make = SweepPtr (*)(Problem&, EarlierPlans&);
const std::map<const char*, Make> kReplacing = {{"multistage", make_multistage},
                                                {"double", make_double},
                                                {"hrevolve", make_hrevolve},
                                                {"disk_revolve", make_disk_revolve}};

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
  RuleOptions rules;
  rules.steps = {problem.sizing.steps};
  rules.units = problem.shared.blocks;
  rules.record = problem.sizing.record;
  rules.tape_units = problem.shared.tape_units;
  return rules;
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
        EXPECT_TRUE(!full_ || sweep_.course().anchors_stay) << "another one: " << kept->place;
        full_ = true;
        sweep_.disk_is_full({disk_.places, problem_.shared.blocks, steps_per_write});
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
  void rewind() {
    sweep_.rewind(1);
    rules_.rewind(1);
  }

  double steps_per_write = 0;

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
    for (;;) {
      const Next next = sweep_.decide(measured);
      if (next == Next::kPlan) sweep_.plan(measured);
      if (next == Next::kPlan || next == Next::kGoOn) return;
    }
  }

  Sweep& sweep_;
  const Problem& problem_;
  Disk disk_;
  Rules rules_;
  bool full_ = false;
};

// Of n steps and TURN.
std::int64_t revolve_advances(std::int64_t steps, std::int64_t slots) {
  return static_cast<std::int64_t>(extra_advances(steps + 1, slots));
}

TEST(FullDisk, CostsWhatRevolveCostsWhereItWasDeadAllTheTime) {
  for (const auto& [name, make] : kReplacing) {
    for (const std::int64_t blocks : {2, 3, 8}) {
      Problem problem = stack_problem(90, blocks);
      EarlierPlans earlier;
      const SweepPtr sweep = make(problem, earlier);
      Player player(*sweep, problem, {});
      EXPECT_EQ(player.play().advances, revolve_advances(90, blocks)) << name << ", " << blocks;
      EXPECT_TRUE(player.was_full());
    }
  }
}

TEST(FullDisk, CostsNoMoreThanRevolveAndLittleMoreThanTheBestWithWhatThereIs) {
  for (const auto& [name, make] : kReplacing) {
    for (const std::int64_t steps : {40, 100, 400}) {
      for (const std::int64_t blocks : {2, 3, 8}) {
        for (std::int64_t places = 1; places <= 24; ++places) {
          for (const bool known : {false, true}) {
            SCOPED_TRACE(std::string(name) + ", " + std::to_string(steps) + " steps, " +
                         std::to_string(blocks) + " blocks, " + std::to_string(places) + " places" +
                         (known ? ", times known" : ""));
            Problem problem = stack_problem(steps, blocks);
            problem.costs_known = known;
            EarlierPlans earlier;
            const SweepPtr sweep = make(problem, earlier);
            Player player(*sweep, problem, {places});
            const Taken taken = player.play();
            if (!player.was_full()) continue;
            const std::int64_t best = revolve_advances(steps, blocks + places);
            EXPECT_LE(taken.most_disk_slots, places + 1);
            EXPECT_LE(taken.advances, revolve_advances(steps, blocks));
            EXPECT_LE(taken.advances, best + best / 4 + places) << "the best: " << best;
          }
        }
      }
    }
  }
}

TEST(FullDisk, CostsNoMoreThanRevolveWhereTapesAreKept) {
  for (const std::int64_t blocks : {2, 3, 8}) {
    for (std::int64_t places = 0; places <= 24; ++places) {
      Problem problem = stack_problem(100, blocks);
      problem.sizing.record = true;
      problem.shared.tape_units = 1;
      EarlierPlans earlier;
      const SweepPtr sweep = make_double(problem, earlier);
      Player player(*sweep, problem, {places});
      const Taken taken = player.play();
      if (!player.was_full()) continue;
      EXPECT_LE(taken.advances, static_cast<std::int64_t>(extra_advances(100, blocks))) << places;
      EXPECT_EQ(taken.recorded, 100);
    }
  }
}

// A state that was good turns out to be damaged afterwards; and another reverse sweep.
TEST(FullDisk, GoesOnWhateverIsLostAfterwards) {
  std::int64_t finished = 0;
  for (const auto& [name, make] : kReplacing) {
    for (const std::int64_t places : {1, 2, 5, 11}) {
      for (std::int64_t lose = 1; lose <= 40; ++lose) {
        SCOPED_TRACE(std::string(name) + ", " + std::to_string(places) + " places, lost at " +
                     std::to_string(lose));
        Problem problem = stack_problem(100, 2 + lose % 3);
        EarlierPlans earlier;
        const SweepPtr sweep = make(problem, earlier);
        Player player(*sweep, problem, {places, lose});
        ASSERT_NO_THROW(player.play());
        if (!player.done()) continue;
        ++finished;
        player.rewind();
        ASSERT_NO_THROW(player.play());
      }
    }
  }
  EXPECT_GT(finished, 300);
}

TEST(FullDisk, KeepsWhatIsThereWhereWritesTakeLong) {
  const auto anchors = [](double steps_per_write) {
    Problem problem = stack_problem(100, 3);
    EarlierPlans earlier;
    const SweepPtr sweep = make_multistage(problem, earlier);
    Player player(*sweep, problem, {9});
    player.steps_per_write = steps_per_write;
    const Taken taken = player.play();
    return taken.anchors;
  };
  EXPECT_GT(anchors(0), 40);
  EXPECT_LT(anchors(1e6), 20);
}

TEST(FullDisk, GivesAnAsyncSweepAllOfTheMemoryBeyondTheNewestAnchor) {
  for (const bool record : {false, true}) {
    for (std::int64_t anchors = 1; anchors <= 8; ++anchors) {
      constexpr std::int64_t kSteps = 200, kInterval = 10, kBlocks = 3;
      Problem problem = stack_problem(kSteps, kBlocks);
      problem.sizing.interval = kInterval;
      problem.sizing.record = record;
      EarlierPlans earlier;
      const SweepPtr sweep = make_async(problem, earlier);
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
            EarlierPlans earlier;
            const SweepPtr sweep = make_async(problem, earlier);
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
    EarlierPlans earlier;
    const SweepPtr sweep = make_async(problem, earlier);
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

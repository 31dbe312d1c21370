// SPDX-License-Identifier: BSD-2-Clause
// Which states have a fingerprint, and what comes of a difference.
#include "engine/verify/audit.h"

#include <gtest/gtest.h>

#include <set>

#include "desk.h"

namespace anadrome::engine {
namespace {

using schedule::Advance;

struct Audited : LoneDesk {
  Audited() {
    options.audit = Audit::kError;
    sweep_played = &script("revolve", 0);
    comparison.begin(true);
    audits.begin();
  }
  // Runs an advance for the first time, in the parts that audits ask for.
  void run(Advance advance) {
    audits.choose(advance, *keeper.live());
    while (advance.first < advance.last) {
      audits.computed(advance.first, *keeper.live());
      Advance part = advance;
      part.last = audits.end_of_part(advance);
      parts.push_back(part);
      advance.first = part.last;
      step_to(part.last);
    }
  }
  // The states at which steps that are run again stop.
  std::set<std::int64_t> stops(std::int64_t steps) {
    std::set<std::int64_t> found;
    for (std::int64_t at = 0; at < steps;) {
      at = audits.end_of_part({at, steps, 0, false, true});
      if (at < steps) found.insert(at);
    }
    return found;
  }
  ScriptedSweep* sweep_played = nullptr;
  Comparison comparison{peers, meeting, asked, play.plan, notes};
  Audits audits{peers.held, play.plan, play.sweep, comparison};
  std::vector<Advance> parts;
};

TEST(Audits, LookAtTheStateBeforeAnAdvancesEnd) {
  Audited desk;
  desk.run({0, 20});
  EXPECT_EQ(desk.parts, (std::vector<Advance>{{0, 1}, {1, 19}, {19, 20}}));
  desk.parts.clear();
  desk.sweep.kept_step = 20;
  desk.run({20, 40, 0, true});
  EXPECT_EQ(desk.parts.back().first, 38) << "step 39 leaves a tape, so x_39 is not computed again";
  EXPECT_EQ(desk.stops(40), (std::set<std::int64_t>{19, 38}));
}

TEST(Audits, CutEveryOtherAdvanceIntoSingleSteps) {
  Audited desk;
  desk.sweep_played->facts.steps = schedule::kUnknown;
  std::vector<std::size_t> parts;
  for (std::int64_t step = 0; step < 80; step += 20) {
    desk.sweep.kept_step = step;
    desk.parts.clear();
    desk.run({step, step + 20});
    parts.push_back(desk.parts.size());
  }
  EXPECT_EQ(parts, (std::vector<std::size_t>{3, 10, 3, 10}));
}

TEST(Audits, LookAtStatesThatAreNotKept) {
  Audited desk;
  for (std::int64_t step = 0; step < 4; ++step) {
    if (step == 2) desk.sweep.kept_step = 2;
    desk.run({step, step + 1});
  }
  EXPECT_EQ(desk.stops(10), (std::set<std::int64_t>{1, 3}));
}

TEST(Audits, TakeTheFirstFourAndFewerAfterThem) {
  Audited desk;
  desk.sweep_played->facts.steps = schedule::kUnknown;
  for (std::int64_t k = 0; k < 2000; ++k) {
    desk.sweep.kept_step = 10 * k;
    desk.run({10 * k, 10 * k + 10});
  }
  const std::set<std::int64_t> stops = desk.stops(20000);
  EXPECT_LE(stops.size(), 64u);
  EXPECT_GE(stops.size(), 32u);
  for (const std::int64_t step : {9, 19, 29, 39}) EXPECT_EQ(stops.count(step), 1u) << step;
  EXPECT_GT(*stops.rbegin(), 19000);
}

TEST(Audits, TakeTheLastOneOfAKnownNumberOfSteps) {
  Audited desk;
  for (std::int64_t k = 0; k < 10; ++k) {
    desk.sweep.kept_step = 10 * k;
    desk.run({10 * k, 10 * k + 10});
  }
  EXPECT_EQ(desk.stops(100).count(99), 1u) << "it is the first that is computed again";
}

// A number, in place of the bytes.
struct Numbers : LoneDesk {
  Numbers() {
    fields.add({"x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, 3, false, x.data(), {}});
    options.audit = Audit::kError;
    script("revolve", 0);
    comparison.begin(true);
  }
  std::vector<double> x = {3, 0, 4};
  Comparison comparison{peers, meeting, asked, play.plan, notes};
};

TEST(Comparison, LooksAtEachNumberWhereBothStatesAreThere) {
  Numbers desk;
  std::vector<Fingerprint> first(2), again(2);
  LiveState& live = *desk.keeper.live();
  const std::int64_t block = desk.keeper.take_spare_block();
  const auto compare = [&](double part) {
    desk.x = {3, 0, 4};
    desk.comparison.take(live, first);
    live.keep(block, 0);
    desk.x[2] *= 1 + part;
    desk.comparison.take(live, again, {}, first);
    return desk.comparison.compare(Call::kPreflight, {live, first, again, block}, 1);
  };
  EXPECT_FALSE(compare(0));
  EXPECT_TRUE(compare(5e-13)->rounding);
  const auto difference = compare(1e-11);
  EXPECT_FALSE(difference->rounding);
  EXPECT_TRUE(difference->each);
  EXPECT_EQ(difference->element, 2);
  desk.keeper.give_back_spare_block(block);
}

TEST(Comparison, TellsRoundingFromMore) {
  Numbers desk;
  std::vector<Fingerprint> first(2), again(2);
  const auto compare = [&](double part, std::int64_t steps) {
    const LiveState& live = *desk.keeper.live();
    desk.x[2] = 4;
    desk.comparison.take(live, first);
    desk.x[2] = 4 * (1 + part);
    desk.comparison.take(live, again, {}, first);
    return desk.comparison.compare(Call::kAudit, {live, first, again}, steps);
  };
  EXPECT_FALSE(compare(0, 1));
  ASSERT_TRUE(compare(1e-14, 1));
  EXPECT_TRUE(compare(1e-14, 1)->rounding);
  EXPECT_FALSE(compare(1e-12, 1)->rounding);
  EXPECT_TRUE(compare(1e-12, 100)->rounding) << "each step may add its own";
  const auto difference = compare(1e-3, 1);
  EXPECT_EQ(difference->field, 1u);
  EXPECT_NEAR(difference->part, 1e-3, 0.6e-3);
}

}  // namespace
}  // namespace anadrome::engine

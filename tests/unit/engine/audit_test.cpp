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

TEST(Comparison, TellsRoundingFromMore) {
  std::vector<double> x = {3, 0, 4};
  LoneDesk desk;
  desk.fields.add({"x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, 3, false, x.data(), {}});
  desk.options.audit = Audit::kError;
  desk.script("revolve", 0);
  Comparison comparison(desk.peers, desk.meeting, desk.asked, desk.play.plan, desk.notes);
  comparison.begin(true);
  std::vector<Fingerprint> first(2), again(2);
  const auto compare = [&](double part, std::int64_t steps) {
    const LiveState& live = *desk.keeper.live();
    x[2] = 4;
    comparison.take(live, first);
    x[2] = 4 * (1 + part);
    comparison.take(live, again, {}, first);
    return comparison.compare(Call::kAudit, {live, first, again}, steps);
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

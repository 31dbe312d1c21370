// SPDX-License-Identifier: BSD-2-Clause
// Sweeps that play plans with overlapped transfers, under the rules of schedule/words/rules.h.
#include "planners/lists/list_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "planners/offload/offloaded_plan.h"
#include "replay.h"
#include "schedule/checked_sweep.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

// Milliseconds: short sweeps are planned quickly, and all of them can be played.
const OverlapTimes kListTimes[] = {
    {1e-3, 2e-3, 3e-3, 3e-3}, {1e-3, 1e-3, 0, 0}, {5e-4, 2e-3, 7e-3, 1e-3}, {1e-3, 0, 4e-2, 6e-2}};

struct ListCase {
  ListOptions options;
  OverlapTimes times;
};

std::ostream& operator<<(std::ostream& out, const ListCase& c) {
  return out << c.options.steps << " steps, " << c.options.slots << " slots, at most "
             << c.options.most_on_disk << " on disk, write " << c.times.write
             << (c.options.record ? ", tape" : "");
}

struct Played {
  std::int64_t advances, writes;
};

/// Plays to Done, under the rules; the steps are those that were promised.
Played play(const ListCase& c, OverlappedPlan plan) {
  ListSweep sweep(c.options, std::move(plan));
  Rules rules(rules_of(c.options));
  const std::int64_t promised = sweep.advances_remaining();
  while (!rules.done()) rules.play(sweep.next());
  const std::int64_t advances = rules.taken().advances + rules.taken().recorded;
  if (sweep.course().adjoints_left != 0) throw std::logic_error("adjoints never come");
  if (promised != advances) throw std::logic_error("another number of advances was promised");
  return {advances, rules.taken().writes};
}

Played play(const ListCase& c, OverlapSearch search = OverlapSearch::kQuick) {
  return play(c, list_plan(c.options, c.times, search));
}

TEST(ListSweep, BreaksNoRuleForAnyLengthAndFewSlots) {
  for (std::int64_t steps = 0; steps <= 40; steps += steps < 12 ? 1 : 7) {
    for (std::int64_t slots = 1; slots <= 4; ++slots) {
      for (const bool record : {false, true}) {
        for (const std::int64_t most : {kNoLimit, std::int64_t{1}, std::int64_t{3}}) {
          const ListCase c{{steps, slots, most, record}, kListTimes[(steps + slots) % 4]};
          ASSERT_NO_THROW(play(c)) << c;
        }
      }
    }
  }
}

TEST(ListSweep, BreaksNoRuleOnRandomLongerChainsAndInAPlanThatWasSearchedFor) {
  Draw below(20240607);
  for (int i = 0; i < 12; ++i) {
    const auto seconds = [&] { return 20e-3 * below.fraction(); };
    const OverlapTimes times{1e-3, seconds(), seconds(), seconds()};
    const std::int64_t most = below(2) == 0 ? kNoLimit : 20;
    const ListCase c{{below(1500), 1 + below(40), most, below(2) == 0}, times};
    ASSERT_NO_THROW(play(c)) << c;
  }
  for (const bool record : {false, true}) {
    const ListCase c{{22, 3, kNoLimit, record}, {1, 3, 4, 3}};
    ASSERT_NO_THROW(play(c, OverlapSearch::kThorough)) << c;
  }
}

TEST(ListSweep, WritesStatesWhereThatPays) {
  const Played played = play({{60, 3, kNoLimit, false}, kListTimes[0]});
  EXPECT_LT(played.advances, static_cast<std::int64_t>(extra_advances(61, 3)));
  EXPECT_GT(played.writes, 5);
}

// ---- states of several sizes ----

struct SizedCase {
  ListCase c;
  OffloadChain chain;
};

SizedCase sized_case(std::int64_t steps, bool record, Draw& below) {
  SizedCase sized;
  OffloadChain& chain = sized.chain;
  const std::int64_t n = steps + (record ? 0 : 1), transfer = 1 + below(12);
  for (std::int64_t k = 0; k < n; ++k) {
    if (k + 1 < n) chain.forward.push_back(1 + below(4));
    chain.adjoint.push_back(below(6));
    chain.state_units.push_back(1 + below(9));
    chain.write.push_back(transfer * chain.state_units.back() / 4);
    chain.read.push_back(chain.write.back());
  }
  const std::int64_t largest = StateUnits(chain.state_units).largest();
  ListOptions& options = sized.c.options;
  options = {steps, largest + below(3 * largest), kNoLimit, record};
  options.units = chain.state_units;
  sized.c.times = kListTimes[below(4)];
  return sized;
}

TEST(ListSweep, GivesStatesOfSeveralSizesTheirPlaces) {
  Draw below(20251122);
  std::int64_t with_sizes = 0, of_slots = 0;
  for (int i = 0; i < 60; ++i) {
    const std::int64_t steps = 1 + below(60);
    const SizedCase sized = sized_case(steps, below(2) == 0, below);
    const ListOptions& options = sized.c.options;
    ASSERT_NO_THROW(play(sized.c)) << sized.c;
    OverlappedPlan plan = plan_offloaded(sized.chain, options.slots, 20'000);
    ASSERT_NO_THROW(with_sizes += play(sized.c, std::move(plan)).advances) << sized.c;
    const std::int64_t chain = steps + (options.record ? 0 : 1);
    const std::int64_t slots = options.slots / StateUnits(options.units).largest();
    of_slots +=
        static_cast<std::int64_t>(extra_advances(chain, slots)) + (options.record ? steps : 0);
  }
  EXPECT_LT(with_sizes, of_slots) << "of Revolve, in slots for the largest";
}

// Nobody has to know what it takes.
TEST(ListSweep, KeepsNoStateThatIsLiveWhenItIsNeeded) {
  Draw below(20251124);
  for (int i = 0; i < 100; ++i) {
    const std::int64_t steps = 1 + below(12);
    const auto& [c, chain] = sized_case(steps, false, below);
    for (const bool adopts : {false, true}) {
      ListSweep sweep(c.options, adopts ? plan_offloaded(chain, c.options.slots, 5'000)
                                        : list_plan(c.options, c.times, OverlapSearch::kQuick));
      for (Action action = sweep.next(); !std::holds_alternative<Done>(action);
           action = sweep.next()) {
        const auto* kept = std::get_if<Keep>(&action);
        ASSERT_FALSE(kept != nullptr && kept->step == steps) << c;
      }
    }
  }
}

TEST(ListSweep, CountsTheRecordingStepAsPartOfAnAdjointStep) {
  const StepCosts costs{2, 3, 0.5, 0.125, 0, 0};
  EXPECT_EQ(overlap_times(costs, false).adjoint, 3);
  EXPECT_EQ(overlap_times(costs, true).adjoint, 5);
}

TEST(ListSweep, RefusesWhatMakesNoSense) {
  const std::vector<ListOptions> wrong = {
      {-1, 1, 1, false}, {kMostOverlappedSteps, 1, 1, false}, {10, 0, 1, false}, {10, 1, 0, false}};
  for (const ListOptions& options : wrong) {
    EXPECT_THROW(list_plan(options, {}), Error);
    EXPECT_THROW(ListSweep(options, {}), Error);
  }
}

}  // namespace
}  // namespace anadrome::schedule

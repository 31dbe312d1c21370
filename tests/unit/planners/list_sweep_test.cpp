// SPDX-License-Identifier: BSD-2-Clause
// Sweeps that play plans with overlapped transfers, under the rules of schedule/words/rules.h.
#include "planners/lists/list_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "planners/offload/offloaded_plan.h"
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
  std::int64_t units_of(std::int64_t step) const {
    return options.units.empty() ? 1 : options.units[static_cast<std::size_t>(step)];
  }
};

std::ostream& operator<<(std::ostream& out, const ListCase& c) {
  return out << c.options.steps << " steps, " << c.options.slots << " slots, at most "
             << c.options.most_on_disk << " on disk, write " << c.times.write
             << (c.options.record ? ", tape" : "");
}

class ListPlayer {
 public:
  ListPlayer(ListSweep& sweep, const ListCase& c) : sweep_(sweep), rules_(rules_of(c.options)) {}

  /// Plays to Done; returns the advances.
  std::int64_t play() {
    const std::int64_t promised = sweep_.advances_remaining();
    while (!rules_.done()) rules_.play(sweep_.next());
    const std::int64_t advances = rules_.taken().advances + rules_.taken().recorded;
    if (sweep_.course().adjoints_left != 0) throw std::logic_error("adjoints never come");
    if (promised != advances) throw std::logic_error("another number of advances was promised");
    return advances;
  }
  std::int64_t writes() const { return rules_.taken().writes; }

 private:
  ListSweep& sweep_;
  Rules rules_;
};

std::int64_t replay(const ListCase& c, OverlapSearch search = OverlapSearch::kQuick) {
  ListSweep sweep(c.options, list_plan(c.options, c.times, search));
  return ListPlayer(sweep, c).play();
}

TEST(ListSweep, BreaksNoRuleForAnyLengthAndFewSlots) {
  for (std::int64_t steps = 0; steps <= 40; ++steps) {
    for (std::int64_t slots = 1; slots <= 4; ++slots) {
      for (const bool record : {false, true}) {
        for (const std::int64_t most : {kNoLimit, std::int64_t{1}, std::int64_t{3}}) {
          const ListCase c{{steps, slots, most, record}, kListTimes[(steps + slots) % 4]};
          ASSERT_NO_THROW(replay(c)) << c;
        }
      }
    }
  }
}

TEST(ListSweep, BreaksNoRuleOnRandomLongerChains) {
  std::mt19937 random(20240607);
  std::uniform_real_distribution<double> seconds(0, 20e-3);
  for (int i = 0; i < 20; ++i) {
    const auto steps = static_cast<std::int64_t>(random() % 3000);
    const auto slots = static_cast<std::int64_t>(1 + random() % 40);
    const OverlapTimes times{1e-3, seconds(random), seconds(random), seconds(random)};
    const ListCase c{{steps, slots, random() % 2 == 0 ? kNoLimit : 20, random() % 2 == 0}, times};
    ASSERT_NO_THROW(replay(c)) << c;
  }
}

TEST(ListSweep, BreaksNoRuleInAPlanThatWasSearchedFor) {
  for (const std::int64_t steps : {20, 27}) {
    for (const bool record : {false, true}) {
      const ListCase c{{steps, 3, kNoLimit, record}, {1, 3, 4, 3}};
      ASSERT_NO_THROW(replay(c, OverlapSearch::kThorough)) << c;
    }
  }
}

TEST(ListSweep, WritesStatesWhereThatPays) {
  const ListCase c{{60, 3, kNoLimit, false}, kListTimes[0]};
  ListSweep sweep(c.options, list_plan(c.options, c.times, OverlapSearch::kQuick));
  ListPlayer machine(sweep, c);
  EXPECT_LT(machine.play(), static_cast<std::int64_t>(extra_advances(61, 3)));
  EXPECT_GT(machine.writes(), 5);
}

// ---- states of several sizes ----

struct SizedCase {
  ListCase c;
  OffloadChain chain;
};

SizedCase sized_case(std::int64_t steps, bool record, std::mt19937& random) {
  SizedCase sized;
  OffloadChain& chain = sized.chain;
  const auto n = static_cast<std::size_t>(steps + (record ? 0 : 1));
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  const std::int64_t transfer = 1 + below(12);
  for (std::size_t k = 0; k < n; ++k) {
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
  sized.c.times = kListTimes[random() % 4];
  return sized;
}

ListSweep offloaded(const SizedCase& sized, std::int64_t most_ops) {
  const ListOptions& options = sized.c.options;
  return {options, plan_offloaded(sized.chain, options.slots, most_ops)};
}

TEST(ListSweep, GivesStatesOfSeveralSizesTheirPlaces) {
  std::mt19937 random(20251122);
  std::int64_t with_sizes = 0, of_slots = 0;
  for (int i = 0; i < 200; ++i) {
    const auto steps = static_cast<std::int64_t>(1 + random() % 60);
    const SizedCase sized = sized_case(steps, random() % 2 == 0, random);
    const ListOptions& options = sized.c.options;
    ASSERT_NO_THROW(replay(sized.c)) << sized.c;
    ListSweep sweep = offloaded(sized, 20'000);
    ASSERT_NO_THROW(with_sizes += ListPlayer(sweep, sized.c).play()) << sized.c;
    const std::int64_t chain = steps + (options.record ? 0 : 1);
    const std::int64_t slots = options.slots / StateUnits(options.units).largest();
    of_slots +=
        static_cast<std::int64_t>(extra_advances(chain, slots)) + (options.record ? steps : 0);
  }
  EXPECT_LT(with_sizes, of_slots) << "of Revolve, in slots for the largest";
}

// Nobody has to know what it takes.
TEST(ListSweep, KeepsNoStateThatIsLiveWhenItIsNeeded) {
  std::mt19937 random(20251124);
  for (int i = 0; i < 300; ++i) {
    const auto steps = static_cast<std::int64_t>(1 + random() % 12);
    const SizedCase sized = sized_case(steps, false, random);
    for (const bool adopts : {false, true}) {
      ListSweep sweep =
          adopts ? offloaded(sized, 5'000)
                 : ListSweep(sized.c.options,
                             list_plan(sized.c.options, sized.c.times, OverlapSearch::kQuick));
      for (Action action = sweep.next(); !std::holds_alternative<Done>(action);
           action = sweep.next()) {
        const auto* kept = std::get_if<Keep>(&action);
        ASSERT_FALSE(kept != nullptr && kept->step == steps) << sized.c;
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

// SPDX-License-Identifier: BSD-2-Clause
// Sweeps that play plans with overlapped transfers, under the rules of schedule/rules.h.
#include "schedule/list_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "schedule/checked_sweep.h"
#include "schedule/offloaded_plan.h"
#include "schedule/revolve.h"

namespace anadrome::schedule {
namespace {

// Milliseconds: short sweeps are planned quickly, and all of them can be played.
const OverlapTimes kListTimes[] = {
    {1e-3, 2e-3, 3e-3, 3e-3}, {1e-3, 1e-3, 0, 0}, {5e-4, 2e-3, 7e-3, 1e-3}, {1e-3, 0, 4e-2, 6e-2}};

struct ListCase {
  ListOptions options;
  OverlapTimes times;
  std::int64_t probe = 0;  ///< steps of every probe; 0: the plan is there at the beginning
  std::int64_t units_of(std::int64_t step) const {
    return options.units.empty() ? 1 : options.units[static_cast<std::size_t>(step)];
  }
};

std::ostream& operator<<(std::ostream& out, const ListCase& c) {
  return out << c.options.steps << " steps, " << c.options.slots << " slots, at most "
             << c.options.most_on_disk << " on disk, write " << c.times.write << ", probe "
             << c.probe << (c.options.record ? ", tape" : "");
}

class ListPlayer {
 public:
  ListPlayer(ListSweep& sweep, const ListCase& c)
      : sweep_(sweep), case_(c), rules_(rules_of(c.options)) {}

  /// Plays to Done; returns the advances.
  std::int64_t play() {
    std::int64_t promised = kUnknown, promised_at = 0;
    while (!rules_.done()) {
      const std::int64_t left = sweep_.advances_remaining();
      if (left != kUnknown && promised == kUnknown) promised = left, promised_at = advances();
      const Action action = sweep_.next();
      rules_.play(action);
      if (std::holds_alternative<Write>(action) && ++writes_ > most_writes_) {
        sweep_.disk_is_full({});
        promised = kUnknown;
      }
      if (std::holds_alternative<Decide>(action)) decide();
      if (const auto* kept = std::get_if<Restore>(&action); kept != nullptr && loses(*kept)) {
        rules_.lose(kept->place);
        lost_ = true;
        if (sweep_.lose(kept->place)) continue;
        require(kept->step == 0, "there was an earlier state");
        return advances();
      }
    }
    require(sweep_.adjoints_remaining() == 0, "adjoints are promised that never come");
    require(lost_ || promised == advances() - promised_at,
            "another number of advances was promised");
    return advances();
  }
  void rewind() {
    sweep_.rewind(1);
    rules_.rewind(1);
  }
  /// The restore of an anchor that comes as number `restore`, from 1, fails.
  void lose(std::int64_t restore) { lose_ = restore; }
  bool lost() const { return lost_; }
  /// The disk takes so many states, and no more.
  void fill(std::int64_t most_writes) { most_writes_ = most_writes; }
  bool was_full() const { return writes_ > most_writes_; }
  std::int64_t writes() const { return rules_.taken().writes; }

 private:
  std::int64_t advances() const { return rules_.taken().advances + rules_.taken().recorded; }
  bool loses(const Kept& kept) { return kept.tier == kDiskTier && lose_ > 0 && --lose_ == 0; }
  void decide() {
    if (case_.probe > 0 && !sweep_.at_forward_end() && probes_++ < 3) {
      sweep_.probe(case_.probe);
    } else {
      sweep_.plan(case_.times);
    }
  }
  static void require(bool holds, const char* rule) {
    if (!holds) throw std::logic_error(rule);
  }

  ListSweep& sweep_;
  const ListCase case_;
  Rules rules_;
  std::int64_t probes_ = 0, lose_ = 0, writes_ = 0, most_writes_ = kNoLimit;
  bool lost_ = false;
};

// A sweep, and another reverse sweep of the same.
std::int64_t replay(const ListCase& c) {
  ListSweep sweep(c.options);
  if (c.probe == 0 && !sweep.planned()) sweep.plan(c.times);
  ListPlayer machine(sweep, c);
  const std::int64_t advances = machine.play();
  machine.rewind();
  sweep.plan(c.times);
  machine.play();
  return advances;
}

TEST(ListSweep, BreaksNoRuleForAnyLengthAndFewSlots) {
  for (std::int64_t steps = 0; steps <= 40; ++steps) {
    for (std::int64_t slots = 1; slots <= 4; ++slots) {
      for (const bool record : {false, true}) {
        for (const std::int64_t probe : {0, 5}) {
          for (const std::int64_t most : {kNoLimit, std::int64_t{1}, std::int64_t{3}}) {
            ListCase c{
                {steps, slots, most, record}, kListTimes[(steps + slots + probe) % 4], probe};
            ASSERT_NO_THROW(replay(c)) << c;
          }
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
    const auto probe = static_cast<std::int64_t>(random() % 30);
    const ListCase c{
        {steps, slots, random() % 2 == 0 ? kNoLimit : 20, random() % 2 == 0}, times, probe};
    ASSERT_NO_THROW(replay(c)) << c;
  }
}

// A sweep of seconds is searched thoroughly.
TEST(ListSweep, BreaksNoRuleInAPlanThatWasSearchedFor) {
  for (const std::int64_t steps : {20, 27}) {
    for (const bool record : {false, true}) {
      const ListCase c{{steps, 3, kNoLimit, record}, {1, 3, 4, 3}, 2};
      ASSERT_NO_THROW(replay(c)) << c;
    }
  }
}

TEST(ListSweep, TakesTheAdvancesOfRevolveWhereTheDiskIsOfNoUse) {
  const OverlapTimes endless{1e-3, 1e-3, 1e6, 1e6};
  for (const std::int64_t steps : {7, 30, 59}) {
    const auto advances = static_cast<std::int64_t>(extra_advances(steps + 1, 3));
    EXPECT_EQ(replay({{steps, 3, kNoLimit, false}, endless, 0}), advances);
  }
}

TEST(ListSweep, RunsNoStepTwiceWhereAllStatesFitAndAsksForNoTimes) {
  ListSweep sweep({20, 20, 1, false});
  EXPECT_TRUE(sweep.planned());
  EXPECT_EQ(sweep.outdated({1, 2, 3, 4, 0, 0}), "") << "the disk is of no use";
  EXPECT_EQ(sweep.advances_remaining(), 20);
  EXPECT_EQ(replay({{20, 20, 1, false}, kListTimes[0], 1}), 20);
}

TEST(ListSweep, WritesStatesWhereThatPays) {
  const ListCase c{{60, 3, kNoLimit, false}, kListTimes[0], 4};
  ListSweep sweep(c.options);
  ListPlayer machine(sweep, c);
  EXPECT_LT(machine.play(), static_cast<std::int64_t>(extra_advances(61, 3)));
  EXPECT_GT(machine.writes(), 5);
}

// Whichever anchor cannot be read: what is left is reversed from the other states, in the same
// memory. Without x_0 there may be nothing to start from.
TEST(ListSweep, GoesOnWithoutAnAnchorThatIsLost) {
  std::int64_t losses = 0;
  for (const std::int64_t steps : {5, 12, 23, 60}) {
    for (std::int64_t slots = 1; slots <= 4; ++slots) {
      for (std::int64_t lose = 1; lose <= 30; ++lose) {
        const ListCase c{{steps, slots, kNoLimit, lose % 2 == 0}, kListTimes[lose % 3], lose % 5};
        ListSweep sweep(c.options);
        if (c.probe == 0 && !sweep.planned()) sweep.plan(c.times);
        ListPlayer machine(sweep, c);
        machine.lose(lose);
        ASSERT_NO_THROW(machine.play()) << c << ", lost " << lose;
        losses += machine.lost() ? 1 : 0;
      }
    }
  }
  EXPECT_GT(losses, 100);
}

// What the disk has is read; the rest is reversed by Revolve. The state whose write is refused is
// the newest one.
TEST(ListSweep, CostsNoMoreThanRevolveWhereTheDiskIsFull) {
  std::int64_t full = 0;
  for (const std::int64_t steps : {5, 23, 60}) {
    for (std::int64_t slots = 1; slots <= 4; ++slots) {
      for (std::int64_t writes = 0; writes <= 12; ++writes) {
        for (const bool record : {false, true}) {
          const ListCase c{{steps, slots, kNoLimit, record}, kListTimes[writes % 4]};
          ListSweep sweep(c.options);
          if (!sweep.planned()) sweep.plan(c.times);
          ListPlayer machine(sweep, c);
          machine.fill(writes);
          std::int64_t advances = 0;
          ASSERT_NO_THROW(advances = machine.play()) << c << ", full after " << writes;
          const std::int64_t chain = steps + (record ? 0 : 1);
          const auto most =
              static_cast<std::int64_t>(extra_advances(chain, slots)) + (record ? steps : 0);
          if (!machine.was_full()) continue;
          ++full;
          EXPECT_LE(advances, most) << c << ", full after " << writes;
          EXPECT_TRUE(writes > 0 || advances == most) << c;
        }
      }
    }
  }
  EXPECT_GT(full, 100);
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

// While it is wanted, a ListSweep with these options takes the plan of plan_offloaded.
class Offloaded {
 public:
  Offloaded(const SizedCase& sized, std::int64_t most_ops)
      : plan_(plan_offloaded(sized.chain, sized.c.options.slots, most_ops)),
        options(sized.c.options) {
    options.other_plan = [this](const OverlapTimes& times) {
      return OtherPlan{wanted ? &plan_ : nullptr, times};
    };
  }

 private:
  OverlappedPlan plan_;

 public:
  ListOptions options;
  bool wanted = true;
};

TEST(ListSweep, GivesStatesOfSeveralSizesTheirPlaces) {
  std::mt19937 random(20251122);
  std::int64_t offloaded = 0, of_slots = 0;
  for (int i = 0; i < 200; ++i) {
    const auto steps = static_cast<std::int64_t>(1 + random() % 60);
    SizedCase sized = sized_case(steps, random() % 2 == 0, random);
    ListCase& c = sized.c;
    c.probe = i % 3 == 0 ? 3 : 0;
    Offloaded offloaded_plan(sized, 20'000);
    ListSweep sweep(offloaded_plan.options);
    const bool adopts = c.probe == 0 && !sweep.planned();
    if (adopts) sweep.plan(c.times);
    ListPlayer machine(sweep, c);
    std::int64_t advances = 0;
    ASSERT_NO_THROW(advances = machine.play()) << c;
    machine.rewind();
    offloaded_plan.wanted = random() % 2 != 0;
    sweep.plan(c.times);
    ASSERT_NO_THROW(machine.play()) << c;
    if (!adopts) continue;
    offloaded += advances;
    const std::int64_t chain = c.options.steps + (c.options.record ? 0 : 1);
    const std::int64_t slots = c.options.slots / StateUnits(c.options.units).largest();
    of_slots += static_cast<std::int64_t>(extra_advances(chain, slots));
  }
  EXPECT_LT(offloaded, of_slots) << "of Revolve, in slots for the largest";
}

// Nobody has to know what it takes.
TEST(ListSweep, KeepsNoStateThatIsLiveWhenItIsNeeded) {
  std::mt19937 random(20251124);
  for (int i = 0; i < 300; ++i) {
    const auto steps = static_cast<std::int64_t>(1 + random() % 12);
    const SizedCase sized = sized_case(steps, false, random);
    for (const bool adopts : {false, true}) {
      Offloaded offloaded(sized, 5'000);
      offloaded.wanted = adopts;
      ListSweep sweep(offloaded.options);
      if (!sweep.planned()) sweep.plan(sized.c.times);
      for (Action action = sweep.next(); !std::holds_alternative<Done>(action);
           action = sweep.next()) {
        const auto* kept = std::get_if<Keep>(&action);
        ASSERT_FALSE(kept != nullptr && kept->step == steps) << sized.c;
      }
    }
  }
}

TEST(ListSweep, GoesOnWithoutALostAnchorOfAnySize) {
  std::mt19937 random(20251123);
  std::int64_t losses = 0;
  for (int i = 0; i < 400; ++i) {
    const auto steps = static_cast<std::int64_t>(2 + random() % 60);
    const SizedCase sized = sized_case(steps, random() % 2 == 0, random);
    Offloaded offloaded(sized, 20'000);
    ListSweep sweep(offloaded.options);
    if (sweep.planned()) continue;
    sweep.plan(sized.c.times);
    ListPlayer machine(sweep, sized.c);
    machine.lose(static_cast<std::int64_t>(1 + random() % 12));
    ASSERT_NO_THROW(machine.play()) << sized.c;
    losses += machine.lost() ? 1 : 0;
  }
  EXPECT_GT(losses, 100);
}

TEST(ListSweep, CountsTheRecordingStepAsPartOfAnAdjointStep) {
  const StepCosts costs{2, 3, 0.5, 0.125, 0, 0};
  EXPECT_EQ(overlap_times(costs, false).adjoint, 3);
  EXPECT_EQ(overlap_times(costs, true).adjoint, 5);
}

TEST(ListSweep, SaysWhenThePlanIsForOtherTimes) {
  ListSweep sweep({60, 3, kNoLimit, false});
  sweep.plan(Measured{.costs = {1, 2, 8, 6, 0, 0}});
  EXPECT_EQ(sweep.outdated({1, 2, 8, 6, 0, 0}), "");
  EXPECT_EQ(sweep.outdated({10, 20, 80, 60, 0, 0}), "") << "as many steps";
  EXPECT_NE(sweep.outdated({1, 2, 12, 6, 0, 0}), "");
}

TEST(ListSweep, FingerprintsTellPlansApart) {
  const auto fingerprint = [](const OverlapTimes& times) {
    ListSweep sweep({60, 3, kNoLimit, false});
    sweep.plan(times);
    return sweep.fingerprint();
  };
  EXPECT_EQ(fingerprint(kListTimes[0]), fingerprint(kListTimes[0]));
  EXPECT_NE(fingerprint(kListTimes[0]), fingerprint(kListTimes[2]));
}

TEST(ListSweep, RefusesWhatMakesNoSense) {
  EXPECT_THROW(ListSweep({-1, 1, 1, false}), Error);
  EXPECT_THROW(ListSweep({kMostOverlappedSteps, 1, 1, false}), Error);
  EXPECT_THROW(ListSweep({10, 0, 1, false}), Error);
  EXPECT_THROW(ListSweep({10, 1, 0, false}), Error);
  ListSweep sweep({10, 1, 1, false});
  EXPECT_THROW(sweep.probe(1), Error);
  EXPECT_THROW(sweep.rewind(1), Error);
}

}  // namespace
}  // namespace anadrome::schedule

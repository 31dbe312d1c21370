// Sweeps that play plans with overlapped transfers, on a machine that knows action.h only.
#include "schedule/overlapped_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "schedule/offloaded_plan.h"
#include "schedule/revolve.h"

namespace anadrome::schedule {
namespace {

// Milliseconds: short sweeps are planned quickly, and all of them can be played.
const OverlapTimes kTimes[] = {
    {1e-3, 2e-3, 3e-3, 3e-3}, {1e-3, 1e-3, 0, 0}, {5e-4, 2e-3, 7e-3, 1e-3}, {1e-3, 0, 4e-2, 6e-2}};

struct Case {
  OverlappedOptions options;
  OverlapTimes times;
  std::int64_t probe = 0;  ///< steps of every probe; 0: the plan is there at the beginning
  std::int64_t units_of(std::int64_t step) const {
    return options.units.empty() ? 1 : options.units[static_cast<std::size_t>(step)];
  }
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.options.steps << " steps, " << c.options.slots << " slots, at most "
             << c.options.most_on_disk << " on disk, write " << c.times.write << ", probe "
             << c.probe << (c.options.record ? ", tape" : "");
}

class Machine {
 public:
  Machine(OverlappedSweep& sweep, const Case& c) : sweep_(sweep), case_(c) {}

  /// Plays to kDone; returns the advances.
  std::int64_t play() {
    const std::int64_t n = case_.options.steps;
    turned_ = false;
    next_adjoint_ = n - 1;
    advances_ = 0;
    std::int64_t promised = kUnknown, promised_at = 0;
    for (;;) {
      const std::int64_t left = sweep_.advances_remaining();
      if (left != kUnknown && promised == kUnknown) promised = left, promised_at = advances_;
      const Action action = sweep_.next();
      if (action.kind == Kind::kDone) break;
      carry_out(action);
      if (ends_here_) return advances_;
      require(memory_in_use() <= case_.options.slots, "more states in memory than slots");
      require(on_disk() <= case_.options.most_on_disk, "more states on disk than it holds");
    }
    require(turned_ && next_adjoint_ == -1, "adjoints are missing");
    require(sweep_.adjoints_remaining() == 0, "adjoints are promised that never come");
    require(lost_ || promised == advances_ - promised_at,
            "another number of advances was promised");
    require(case_.options.record || live_ == 0, "x_0 is not live at the end");
    return advances_;
  }
  void forget_live() { live_.reset(); }
  /// The restore of an anchor that comes as number `restore`, from 1, fails.
  void lose(std::int64_t restore) { lose_ = restore; }
  bool lost() const { return lost_; }
  std::int64_t writes() const { return writes_; }

 private:
  struct Anchor {
    std::int64_t step = -1;
    bool in_memory = false, on_disk = false;
  };
  struct Region {
    std::int64_t begin, end;
  };

  void carry_out(const Action& action) {
    switch (action.kind) {
      case Kind::kAdvance:
        require(live_ == action.first && action.first < action.last, "its state is not live");
        require(action.last <= case_.options.steps, "beyond the end");
        require(action.again == (action.last <= run_before_), "`again` is wrong");
        require(!action.record || case_.options.record, "nobody asked for a tape");
        require(!action.record || action.last == action.first + 1, "a record of several steps");
        advances_ += action.last - action.first;
        live_ = action.last;
        tape_ = action.record ? action.first : -1;
        run_before_ = std::max(run_before_, action.last);
        return;
      case Kind::kKeep:
        require(live_ == action.first && !ram_.contains(action.slot), "the slot is in use");
        ram_[action.slot] = action.first;
        arrive(action);
        return;
      case Kind::kRestore:
        require(ram_.at(action.slot) == action.first, "it is not kept there");
        require_there(action);
        live_ = action.first;
        return;
      case Kind::kDrop:
        require(ram_.at(action.slot) == action.first, "it is not kept there");
        ram_.erase(action.slot);
        regions_.erase(action.first);
        return;
      case Kind::kAnchor:
        require(live_ == action.first && !anchors_[action.slot].in_memory, "it is kept already");
        anchors_[action.slot] = {action.first, true, false};
        arrive(action);
        return;
      case Kind::kWriteAnchor:
        require(anchor(action).in_memory, "it is not in memory to be written");
        anchor(action).on_disk = true;
        ++writes_;
        return;
      case Kind::kReadAnchor:
        require(anchor(action).on_disk && !anchor(action).in_memory, "it is not to be read");
        anchor(action).in_memory = true;
        arrive(action);
        return;
      case Kind::kRestoreAnchor:
        require(anchor(action).in_memory, "it is not in memory");
        require_there(action);
        if (lose_ > 0 && --lose_ == 0) {
          anchors_.erase(action.slot);
          regions_.erase(action.first);
          live_.reset();
          ends_here_ = !sweep_.lose_anchor(action.slot);
          require(!ends_here_ || action.first == 0, "there was an earlier state");
          lost_ = true;
          return;
        }
        live_ = action.first;
        return;
      case Kind::kDropAnchor:
        require(anchor(action).in_memory, "it is not in memory");
        anchor(action).in_memory = false;
        regions_.erase(action.first);
        return;
      case Kind::kDecide:
        if (case_.probe > 0 && !sweep_.at_forward_end() && probes_++ < 3) {
          sweep_.probe(case_.probe);
        } else {
          sweep_.plan(case_.times);
        }
        return;
      case Kind::kTurn:
        require(!turned_ && live_ == case_.options.steps, "TURN comes once, at x_n");
        turned_ = true;
        live_.reset();
        return;
      case Kind::kAdjoint:
        require(turned_ && action.first == next_adjoint_--, "adjoints come once, in order");
        require(case_.options.record ? tape_ == action.first : live_ == action.first,
                "what it needs is not there");
        live_.reset();
        tape_ = -1;
        return;
      default:
        require(false, "there is no such action here");
    }
  }

  void arrive(const Action& action) {
    const Region region = {action.place, action.place + case_.units_of(action.first)};
    require(0 <= region.begin && region.end <= case_.options.slots, "it lies outside the memory");
    for (const auto& [step, other] : regions_) {
      require(region.end <= other.begin || other.end <= region.begin, "another state is there");
    }
    require(regions_.emplace(action.first, region).second, "it is there already");
  }
  void require_there(const Action& action) {
    const auto found = regions_.find(action.first);
    require(found != regions_.end() && found->second.begin == action.place, "it is elsewhere");
  }
  Anchor& anchor(const Action& action) {
    const auto found = anchors_.find(action.slot);
    require(found != anchors_.end() && found->second.step == action.first, "no such anchor");
    return found->second;
  }
  std::int64_t memory_in_use() const {
    return static_cast<std::int64_t>(ram_.size()) +
           std::count_if(anchors_.begin(), anchors_.end(),
                         [](const auto& entry) { return entry.second.in_memory; });
  }
  std::int64_t on_disk() const {
    return std::count_if(anchors_.begin(), anchors_.end(),
                         [](const auto& entry) { return entry.second.on_disk; });
  }
  static void require(bool holds, const char* rule) {
    if (!holds) throw std::logic_error(rule);
  }

  OverlappedSweep& sweep_;
  const Case case_;
  std::optional<std::int64_t> live_ = 0;
  std::int64_t tape_ = -1;
  std::map<std::int64_t, std::int64_t> ram_;
  std::map<std::int64_t, Anchor> anchors_;
  std::map<std::int64_t, Region> regions_;  ///< by step
  std::int64_t run_before_ = 0, next_adjoint_ = 0, advances_ = 0, writes_ = 0, probes_ = 0;
  std::int64_t lose_ = 0;
  bool turned_ = false, lost_ = false, ends_here_ = false;
};

// A sweep, and another reverse sweep of the same.
std::int64_t replay(const Case& c) {
  OverlappedSweep sweep(c.options);
  if (c.probe == 0 && !sweep.planned()) sweep.plan(c.times);
  Machine machine(sweep, c);
  const std::int64_t advances = machine.play();
  machine.forget_live();
  sweep.rewind();
  sweep.plan(c.times);
  machine.play();
  return advances;
}

TEST(OverlappedSweep, BreaksNoRuleForAnyLengthAndFewSlots) {
  for (std::int64_t steps = 0; steps <= 60; ++steps) {
    for (std::int64_t slots = 1; slots <= 4; ++slots) {
      for (const bool record : {false, true}) {
        for (const std::int64_t probe : {0, 5}) {
          for (const std::int64_t most : {kNoLimit, std::int64_t{1}, std::int64_t{3}}) {
            Case c{{steps, slots, most, record}, kTimes[(steps + slots + probe) % 4], probe};
            ASSERT_NO_THROW(replay(c)) << c;
          }
        }
      }
    }
  }
}

TEST(OverlappedSweep, BreaksNoRuleOnRandomLongerChains) {
  std::mt19937 random(20240607);
  std::uniform_real_distribution<double> seconds(0, 20e-3);
  for (int i = 0; i < 20; ++i) {
    const auto steps = static_cast<std::int64_t>(random() % 3000);
    const auto slots = static_cast<std::int64_t>(1 + random() % 40);
    const OverlapTimes times{1e-3, seconds(random), seconds(random), seconds(random)};
    const auto probe = static_cast<std::int64_t>(random() % 30);
    const Case c{
        {steps, slots, random() % 2 == 0 ? kNoLimit : 20, random() % 2 == 0}, times, probe};
    ASSERT_NO_THROW(replay(c)) << c;
  }
}

// Of seconds: searched thoroughly.
TEST(OverlappedSweep, BreaksNoRuleInAPlanThatWasSearchedFor) {
  for (const std::int64_t steps : {20, 27}) {
    for (const bool record : {false, true}) {
      const Case c{{steps, 3, kNoLimit, record}, {1, 3, 4, 3}, 2};
      ASSERT_NO_THROW(replay(c)) << c;
    }
  }
}

TEST(OverlappedSweep, TakesTheAdvancesOfRevolveWhereTheDiskIsOfNoUse) {
  const OverlapTimes endless{1e-3, 1e-3, 1e6, 1e6};
  for (const std::int64_t steps : {7, 30, 59}) {
    const auto advances = static_cast<std::int64_t>(extra_advances(steps + 1, 3));
    EXPECT_EQ(replay({{steps, 3, kNoLimit, false}, endless, 0}), advances);
  }
}

TEST(OverlappedSweep, RunsNoStepTwiceWhereAllStatesFitAndAsksForNoTimes) {
  OverlappedSweep sweep({20, 20, 1, false});
  EXPECT_TRUE(sweep.planned());
  EXPECT_EQ(sweep.states_on_disk(), 0);
  EXPECT_EQ(sweep.advances_remaining(), 20);
  EXPECT_EQ(replay({{20, 20, 1, false}, kTimes[0], 1}), 20);
}

TEST(OverlappedSweep, WritesStatesWhereThatPays) {
  const Case c{{60, 3, kNoLimit, false}, kTimes[0], 4};
  OverlappedSweep sweep(c.options);
  Machine machine(sweep, c);
  EXPECT_LT(machine.play(), static_cast<std::int64_t>(extra_advances(61, 3)));
  EXPECT_GT(machine.writes(), 5);
}

// Whichever anchor cannot be read: what is left is reversed from the other states, in the same
// memory. Without x_0 there may be nothing to start from.
TEST(OverlappedSweep, GoesOnWithoutAnAnchorThatIsLost) {
  std::int64_t losses = 0;
  for (const std::int64_t steps : {5, 12, 23, 60}) {
    for (std::int64_t slots = 1; slots <= 4; ++slots) {
      for (std::int64_t lose = 1; lose <= 30; ++lose) {
        const Case c{{steps, slots, kNoLimit, lose % 2 == 0}, kTimes[lose % 3], lose % 5};
        OverlappedSweep sweep(c.options);
        if (c.probe == 0 && !sweep.planned()) sweep.plan(c.times);
        Machine machine(sweep, c);
        machine.lose(lose);
        ASSERT_NO_THROW(machine.play()) << c << ", lost " << lose;
        losses += machine.lost() ? 1 : 0;
      }
    }
  }
  EXPECT_GT(losses, 100);
}

// ---- states of several sizes ----

struct SizedCase {
  Case c;
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
  OverlappedOptions& options = sized.c.options;
  options = {steps, largest + below(3 * largest), kNoLimit, record};
  options.units = chain.state_units;
  sized.c.times = kTimes[random() % 4];
  return sized;
}

TEST(OverlappedSweep, GivesStatesOfSeveralSizesTheirPlaces) {
  std::mt19937 random(20251122);
  std::int64_t offloaded = 0, of_slots = 0;
  for (int i = 0; i < 200; ++i) {
    const auto steps = static_cast<std::int64_t>(1 + random() % 60);
    SizedCase sized = sized_case(steps, random() % 2 == 0, random);
    Case& c = sized.c;
    c.probe = i % 3 == 0 ? 3 : 0;
    OverlappedSweep sweep(c.options);
    const bool adopts = c.probe == 0 && !sweep.planned();
    if (adopts) {
      ASSERT_TRUE(sweep.adopt(plan_offloaded(sized.chain, c.options.slots, 20'000))) << c;
    }
    Machine machine(sweep, c);
    std::int64_t advances = 0;
    ASSERT_NO_THROW(advances = machine.play()) << c;
    machine.forget_live();
    sweep.rewind();
    if (random() % 2 == 0) {
      sweep.plan(c.times);
    } else {
      ASSERT_TRUE(sweep.adopt(plan_offloaded(sized.chain, c.options.slots, 20'000))) << c;
    }
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
TEST(OverlappedSweep, KeepsNoStateThatIsLiveWhenItIsNeeded) {
  std::mt19937 random(20251124);
  for (int i = 0; i < 300; ++i) {
    const auto steps = static_cast<std::int64_t>(1 + random() % 12);
    const SizedCase sized = sized_case(steps, false, random);
    for (const bool adopts : {false, true}) {
      OverlappedSweep sweep(sized.c.options);
      if (!sweep.planned() && adopts) {
        sweep.adopt(plan_offloaded(sized.chain, sized.c.options.slots, 5'000));
      } else if (!sweep.planned()) {
        sweep.plan(sized.c.times);
      }
      for (Action action = sweep.next(); action.kind != Kind::kDone; action = sweep.next()) {
        const bool keeps = action.kind == Kind::kKeep || action.kind == Kind::kAnchor;
        ASSERT_FALSE(keeps && action.first == steps) << sized.c;
      }
    }
  }
}

TEST(OverlappedSweep, GoesOnWithoutALostAnchorOfAnySize) {
  std::mt19937 random(20251123);
  std::int64_t losses = 0;
  for (int i = 0; i < 400; ++i) {
    const auto steps = static_cast<std::int64_t>(2 + random() % 60);
    const SizedCase sized = sized_case(steps, random() % 2 == 0, random);
    OverlappedSweep sweep(sized.c.options);
    if (sweep.planned()) continue;
    sweep.adopt(plan_offloaded(sized.chain, sized.c.options.slots, 20'000));
    Machine machine(sweep, sized.c);
    machine.lose(static_cast<std::int64_t>(1 + random() % 12));
    ASSERT_NO_THROW(machine.play()) << sized.c;
    losses += machine.lost() ? 1 : 0;
  }
  EXPECT_GT(losses, 100);
}

TEST(OverlappedSweep, FingerprintsTellPlansApart) {
  const auto fingerprint = [](const OverlapTimes& times) {
    OverlappedSweep sweep({60, 3, kNoLimit, false});
    sweep.plan(times);
    return sweep.fingerprint();
  };
  EXPECT_EQ(fingerprint(kTimes[0]), fingerprint(kTimes[0]));
  EXPECT_NE(fingerprint(kTimes[0]), fingerprint(kTimes[2]));
}

TEST(OverlappedSweep, RefusesWhatMakesNoSense) {
  EXPECT_THROW(OverlappedSweep({-1, 1, 1, false}), Error);
  EXPECT_THROW(OverlappedSweep({kMostOverlappedSteps, 1, 1, false}), Error);
  EXPECT_THROW(OverlappedSweep({10, 0, 1, false}), Error);
  EXPECT_THROW(OverlappedSweep({10, 1, 0, false}), Error);
  OverlappedSweep sweep({10, 1, 1, false});
  EXPECT_THROW(sweep.probe(1), Error);
  EXPECT_THROW(sweep.rewind(), Error);
}

}  // namespace
}  // namespace anadrome::schedule

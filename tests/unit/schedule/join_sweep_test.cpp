#include "schedule/join_sweep.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "schedule/join_planner.h"

namespace anadrome::schedule {
namespace {

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

/// A state: branch and step.
using State = std::pair<std::int64_t, std::int64_t>;

/// Carries actions out as a run does, and breaks on any that cannot be.
class Machine {
 public:
  Machine(JoinSweep& sweep, const JoinSweepOptions& options) : sweep_(sweep), options_(options) {
    for (const std::int64_t steps : options.steps) todo_.push_back(steps);
  }

  /// Returns the advances.
  std::int64_t play() {
    for (;;) {
      const std::int64_t promised = sweep_.advances_remaining();
      const Action action = sweep_.next();
      if (action.kind == Kind::kDone) break;
      carry_out(action);
      if (action.kind == Kind::kAdvance) advances_ += action.last - action.first;
      require(promised - sweep_.advances_remaining() ==
                  (action.kind == Kind::kAdvance ? action.last - action.first : 0),
              "the promise changed");
    }
    for (const std::int64_t left : todo_) require(left == 0, "adjoints are missing");
    require(slots_.empty(), "slots are left");
    require(sweep_.advances_remaining() == 0 && sweep_.adjoints_remaining() == 0, "too much said");
    return advances_;
  }

 private:
  static void require(bool holds, const char* rule) {
    if (!holds) throw std::logic_error(rule);
  }

  void carry_out(const Action& action) {
    const State state{action.branch, action.first};
    const std::int64_t end = options_.steps[at(action.branch)];
    const bool all_seen = seen_.size() == options_.steps.size();
    switch (action.kind) {
      case Kind::kStart:
        require(!options_.charged_inputs || started_.count(action.branch) == 0, "asked for again");
        require(action.again == (started_.count(action.branch) > 0), "again is wrong");
        started_.insert(action.branch);
        live_ = state;
        return;
      case Kind::kKeep:
        require(live_ == state && action.slot >= 0 && action.slot < options_.slots, "no slot");
        require(slots_.try_emplace(action.slot, state).second, "the slot is not free");
        return;
      case Kind::kRestore:
        require(slots_.at(action.slot) == state, "the slot holds another state");
        live_ = state;
        return;
      case Kind::kDrop:
        require(slots_.at(action.slot) == state, "the slot holds another state");
        slots_.erase(action.slot);
        return;
      case Kind::kAdvance:
        require(live_ == state && action.first < action.last && action.last <= end, "not live");
        require(action.again == all_seen, "again is wrong");
        require(!action.record || (options_.record && action.last == action.first + 1), "record");
        live_ = {action.branch, action.last};
        recorded_ = action.record;
        return;
      case Kind::kTurn:
        require(live_ == state && action.first == end, "not the end of a branch");
        require(action.again == all_seen, "ends are missing");
        require((action.again ? seeded_ : seen_).insert(action.branch).second, "seen before");
        if (action.again) check_ends();
        live_ = {-1, -1};  // the caller may write to it
        return;
      case Kind::kAdjoint:
        require(seeded_.count(action.branch) > 0, "its adjoint did not begin");
        require(options_.reducible || seeded_.size() == todo_.size(), "before all ends were seen");
        require(todo_[at(action.branch)] == action.last, "adjoints come in order");
        require(options_.record ? recorded_ && live_ == State(action.branch, action.last)
                                : live_ == state,
                "what it needs is not there");
        --todo_[at(action.branch)];
        live_ = {-1, -1};
        recorded_ = false;
        return;
      default:
        throw std::logic_error("there is no such action");
    }
  }

  void check_ends() const {
    for (std::int64_t b = 0; b < sweep_.branches(); ++b) {
      const std::int64_t slot = sweep_.slot_of_end(b);
      require(options_.reducible == (slot < 0), "ends of a joint objective stay");
      if (slot >= 0) require(slots_.at(slot) == State(b, options_.steps[at(b)]), "another state");
    }
  }

  JoinSweep& sweep_;
  const JoinSweepOptions& options_;
  std::map<std::int64_t, State> slots_;
  State live_{-1, -1};
  bool recorded_ = false;
  std::set<std::int64_t> started_, seen_, seeded_;
  std::vector<std::int64_t> todo_;
  std::int64_t advances_ = 0;
};

std::int64_t play(const JoinSweepOptions& options) {
  JoinSweep sweep(options);
  return Machine(sweep, options).play();
}

RC_GTEST_PROP(JoinSweep, BreaksNoRuleAndKeepsThePlannersPromise, ()) {
  JoinSweepOptions options;
  const auto branches = *rc::gen::inRange<std::size_t>(1, 7);
  const auto longest = *rc::gen::element<std::int64_t>(2, 8, 60);
  options.steps = *rc::gen::container<std::vector<std::int64_t>>(
      branches, rc::gen::inRange<std::int64_t>(1, longest));
  options.charged_inputs = *rc::gen::arbitrary<bool>();
  options.reducible = *rc::gen::arbitrary<bool>();
  options.record = *rc::gen::arbitrary<bool>();
  options.plan_bytes = *rc::gen::element<std::int64_t>(0, 1 << 16, 1 << 24);
  const auto more = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 12),
                                    rc::gen::inRange<std::int64_t>(0, 400));
  options.slots = JoinSweep::fewest_slots(options) + more;
  const std::int64_t promised = JoinSweep(options).advances_remaining();
  RC_ASSERT(play(options) == promised);
}

TEST(JoinSweep, TakesTheFewestAdvancesOfAJoin) {
  for (const bool charged : {false, true}) {
    for (std::int64_t slots = 4; slots < 12; ++slots) {
      const JoinSweepOptions options{{10, 7}, slots, charged};
      const JoinProblem problem{options.steps, slots, charged, false, true};
      EXPECT_TRUE(static_cast<uint128>(play(options)) == plan_join(problem).advances) << slots;
    }
  }
}

TEST(JoinSweep, MakesEachEndOfAReducibleObjectiveTwice) {
  for (std::int64_t slots = 1; slots < 12; ++slots) {
    const std::int64_t alone = static_cast<std::int64_t>(extra_advances(11, slots + 1)) +
                               static_cast<std::int64_t>(extra_advances(8, slots + 1));
    EXPECT_EQ(play({{10, 7}, slots, false, true}), 10 + 7 + alone) << slots;
  }
}

TEST(JoinSweep, RunsNoStepTwiceWithTheMostSlots) {
  JoinSweepOptions options{{10, 7, 1}, 1, true};
  options.slots = JoinSweep::most_slots(options);
  EXPECT_EQ(play(options), 18);
  options.charged_inputs = false;
  options.slots = JoinSweep::most_slots(options);
  EXPECT_EQ(play(options), 18);
  options.reducible = true;
  options.slots = JoinSweep::most_slots(options);
  EXPECT_EQ(play(options), 36);
}

TEST(JoinSweep, NumbersStepsOfAllBranches) {
  const JoinSweep sweep(JoinSweepOptions{{10, 7, 1}, 3});
  EXPECT_EQ(sweep.steps(), 18);
  EXPECT_EQ(sweep.steps_before(0), 0);
  EXPECT_EQ(sweep.steps_before(2), 17);
}

TEST(JoinSweep, RefusesWhatCannotBe) {
  EXPECT_THROW(JoinSweep(JoinSweepOptions{{}, 3}), Error);
  EXPECT_THROW(JoinSweep(JoinSweepOptions{{3, 0}, 3}), Error);
  EXPECT_THROW(JoinSweep(JoinSweepOptions{{3, 3}, 1}), Error);
  EXPECT_THROW(JoinSweep(JoinSweepOptions{{3, 3}, 3, true}), Error);
  EXPECT_THROW(JoinSweep(JoinSweepOptions{{3, 3}, 1, true, true}), Error);
  EXPECT_THROW(JoinSweep(JoinSweepOptions{{3, std::int64_t{1} << 40}, 9}), Error);
}

}  // namespace
}  // namespace anadrome::schedule

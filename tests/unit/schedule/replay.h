// SPDX-License-Identifier: BSD-2-Clause
// Sweeps played to their end under the rules of schedule/words/rules.h, and what they took.
// Whatever a sweep promises of the rest on the way is compared with what comes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "schedule/anchored/anchored_planner.h"
#include "schedule/checked_sweep.h"
#include "schedule/passes/pass_sweep.h"
#include "schedule/stack/stack_sweep.h"

namespace anadrome::schedule {

/// Numbers from 0 to below `end`: the same ones in every run.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::int64_t operator()(std::int64_t end) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(end));
  }
  /// From 0 to below 1.
  double fraction() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 random_;
};

struct Driving {
  std::int64_t steps = 0;    ///< n: where the model ends, known to the sweep or not
  bool finish_late = false;  ///< unknown n: the end shows in the advance that would begin at x_n
  bool steady = true;        ///< what was decided first holds for good
  std::function<void(std::int64_t live)> decide = {};
};

class Driver {
 public:
  Driver(Sweep& sweep, const RuleOptions& rules, Driving driving);
  /// Passes over what a sweep has left.
  Driver(PassSweep& sweep, const Remains& remains);

  /// Sees every action when it was played.
  std::function<void(const Action&)> sees = {};
  /// Says of an anchor that is restored whether it is lost.
  std::function<bool(std::int64_t number)> loses = {};

  /// Plays to Done.
  Taken sweep();
  /// Sweep::rewind, then another reverse sweep.
  Taken rewind(std::int64_t restorable = 1);
  Taken pass(const Pass& pass);

 private:
  /// The answers of advances_remaining and adjoints_remaining, and when.
  struct Promise {
    std::int64_t advances, adjoints;  ///< promised
    std::int64_t advanced, adjoined;  ///< taken before, visits among the latter
    std::int64_t decisions;           ///< answered before
    bool end_known, must_be_known;
  };
  Taken again();
  void after(const Advance& advance);
  void lose(std::int64_t number);
  void note_promise();
  void check_promises() const;

  Sweep& sweep_;
  Driving driving_;
  Rules rules_;
  bool open_end_, turned_ = false;
  std::int64_t states_per_block_ = 1;
  std::vector<Promise> promises_;
};

/// One sweep of a planner, with its own sizes of states.
Taken replay(const StackOptions& options, std::unique_ptr<Planner> planner);

// ---- anchors at intervals, or x_0 in RAM ----

/// The answer to Decide: an interval, or a probe of so many steps.
struct Answer {
  bool probe = false;
  std::int64_t steps = 1;
};

struct AnchoredCase {
  std::int64_t steps = 0;
  std::int64_t slots = 1;
  std::int64_t most_slots = 0;
  bool anchored = false;
  std::int64_t interval = 0;
  std::int64_t most_anchors = kNoLimit;
  bool all_anchors = false;
  bool keep_every = false;
  bool leaves_states = false;
  bool record = false;
  std::int64_t tape_units = 0;
};

/// A sweep whose questions the test answers.
class AskedSweep {
 public:
  explicit AskedSweep(const AnchoredCase& given);

  Action next() { return sweep_->next(); }
  void set_interval(std::int64_t interval) {
    anchored().set_interval(interval, sweep_->course().slots);
  }
  void probe(std::int64_t steps) { anchored().probe(steps); }
  void end_in_ram(std::int64_t slots) { anchored().end_in_ram(slots); }
  StackSweep& sweep() { return *sweep_; }
  RuleOptions rules() const;
  StackSweep* operator->() { return sweep_.get(); }

 private:
  AnchoredPlanner& anchored();

  AnchoredCase given_;
  StackOptions options_;
  std::unique_ptr<StackSweep> sweep_;
};

struct ReplayOptions {
  bool finish_late = false;
  bool steady = false;  ///< all answers of `decide` are the same interval
  std::function<Answer(std::int64_t live)> decide = {};
};

/// The counts of a sweep and of `rewinds` more of its reverse part; n where the case leaves it
/// unknown. `advances` are all steps that were run, recorded ones included.
std::vector<Taken> replay(AskedSweep& sweep, std::int64_t steps, const ReplayOptions& options,
                          const std::vector<std::int64_t>& rewinds);
Taken replay(const AnchoredCase& given, std::int64_t steps, const ReplayOptions& options = {});

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The rules of a sweep, whatever plans it: a machine that carries actions out on numbers and throws
// on any rule they break. It knows action.h, and nothing of how a schedule finds its actions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedule/words/action.h"
#include "schedule/words/revolve.h"
#include "schedule/words/sweep.h"

namespace anadrome::schedule {

struct RuleOptions {
  std::vector<std::int64_t> steps = {0};  ///< of each branch; kUnknown until end_is
  std::int64_t units = kNoLimit;          ///< RAM
  std::int64_t disk_slots = kNoLimit;     ///< states on disk at a time
  std::int64_t tape_units = 0;            ///< of a kept tape; 0: there are none
  bool tape_restarts = false;             ///< the tape of step k holds x_{k+1}
  bool record = false;                    ///< the adjoint of a step needs its tape
  bool turn = true;                       ///< false: the adjoint of step n-1 follows on x_{n-1}
  bool anchors_stay = false;              ///< numbered on, and kept for a rewind
  bool transfers = false;                 ///< Write and Read are actions of their own
  bool branches = false;                  ///< they meet, and begin with Start
  bool starts_free = true;                ///< a branch's x_0 may be asked for more than once
  bool ends_first = false;  ///< no adjoint before all ends were seen for the second time
  std::function<std::int64_t(std::int64_t step)> state_units = {};  ///< 1 each
};

/// The counts of one sweep.
struct Taken {
  std::int64_t advances = 0;  ///< steps run, recorded ones not included
  std::int64_t recorded = 0;
  std::int64_t keeps = 0, restores = 0, drops = 0;  ///< in RAM
  std::int64_t anchors = 0, anchor_restores = 0;    ///< on disk
  std::int64_t writes = 0, reads = 0;               ///< actions of their own
  std::int64_t decisions = 0, adjoints = 0, visits = 0;
  std::int64_t most_units = 0, most_disk_slots = 0;
  friend bool operator==(const Taken&, const Taken&) = default;
};

class Rules {
 public:
  explicit Rules(RuleOptions options);

  /// Throws ERR_INTERNAL with the rule that is broken.
  void play(const Action& action);

  /// The other calls of the caller, as Sweep has them.
  void end_is(std::int64_t steps);  ///< inside the last Advance
  void lose(std::int64_t number);   ///< and those above it, if anchors stay
  void rewind(std::int64_t restorable);
  void remain(const Remains& remains);  ///< what a sweep has left, before the first pass
  void begin_pass(const Pass& pass);
  void allow(std::int64_t units) { options_.units = std::max(options_.units, units); }
  void allow_on_disk(std::int64_t states) {
    options_.disk_slots = std::max(options_.disk_slots, states);
  }

  const Taken& taken() const { return taken_; }
  bool done() const { return done_; }

 private:
  using State = std::pair<std::int64_t, std::int64_t>;  ///< branch and step
  static constexpr State kNone = {-1, -1};
  struct InRam {
    What what;
    State state;
    Room room;
  };
  struct OnDisk {
    State state;
    bool in_memory = false, written = false, dropped = false;
    Room room;
  };

  void play(const Start& start);
  void play(const Advance& advance);
  void play(const Keep& kept);
  void play(const Restore& kept);
  void play(const Drop& kept);
  void play(const Write& kept);
  void play(const Read& kept);
  void play(const Decide& decide);
  void play(const Turn& turn);
  void play(const Adjoint& adjoint);
  void play(const Visit& visit);
  void play(const Done& done);

  void keep_anchor(const Keep& kept);
  void take_room(const Kept& kept);
  InRam& in_ram(const Kept& kept);
  OnDisk& on_disk(const Kept& kept);
  std::int64_t& at(std::vector<std::int64_t>& values, std::int64_t branch);
  std::int64_t units_of(const Kept& kept) const;
  void require(bool holds, const char* rule) const;

  RuleOptions options_;
  State live_ = {0, 0}, tape_ = kNone;
  std::map<std::int64_t, InRam> ram_;     ///< by place
  std::map<std::int64_t, OnDisk> disk_;   ///< by number
  std::vector<std::int64_t> run_before_;  ///< by branch: steps below it were run at least once
  std::vector<std::int64_t> to_adjoin_;   ///< by branch; kUnknown as the steps
  std::set<std::int64_t> started_, ended_, turned_;  ///< branches
  bool done_ = false;
  enum class Played {
    kSweep,
    kForward,
    kReverse
  } what_ = Played::kSweep;  ///< the last two: a pass
  std::int64_t to_visit_ = 0;
  std::int64_t played_ = 0, units_used_ = 0;
  std::int64_t idle_ = 0, kept_at_progress_ = 0;  ///< actions since a step was taken
  std::string doing_;
  Taken taken_;
};

}  // namespace anadrome::schedule

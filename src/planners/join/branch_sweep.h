// SPDX-License-Identifier: BSD-2-Clause
// The sweep whose branches meet in one objective: each branch forward, TURN for every end, and back
// as a JoinPlan says. Kept states are in one pool; the state under way is the caller's. Of a joint
// objective an end stays in its slot until all ends were seen twice: to add up the objective, then
// for the adjoint of each. Of a reducible one the reversal of a branch makes its end once more.
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.h"
#include "planners/join/join_planner.h"
#include "schedule/words/rules.h"
#include "schedule/words/sweep.h"

namespace anadrome::schedule {

struct BranchOptions {
  std::vector<std::int64_t> steps;  ///< by branch, >= 1
  std::int64_t slots = 1;
  bool charged_inputs = false;  ///< x_0 of a branch is kept; false: kStart asks for it again
  bool reducible = false;
  bool record = false;                               ///< the adjoint of a step needs its tape
  std::int64_t plan_bytes = std::int64_t{64} << 20;  ///< for the planner's tables

  friend bool operator==(const BranchOptions&, const BranchOptions&) = default;
};

class BranchSweep final : public Sweep {
 public:
  /// Throws ERR_ARGUMENT on lengths that cannot be, or if the slots do not suffice.
  explicit BranchSweep(const BranchOptions& options) : BranchSweep(options, plan(options)) {}
  /// The plan of all sweeps with these options; and one of them.
  static JoinPlan plan(const BranchOptions& options);
  BranchSweep(const BranchOptions& options, const JoinPlan& plan);

  /// Slots beyond which more are of no use.
  static std::int64_t most_slots(const BranchOptions& options);

  Action next() override;

  std::int64_t advances_remaining() const override;
  Course course() const override { return {.adjoints_left = adjoints_}; }

 private:
  enum class Phase { kForward, kSeeEnds, kDropEnds, kReverse };
  struct Entry {
    std::int64_t step, slot;
  };
  static constexpr std::int64_t kNone = -1;

  Action forward_action();
  Action action_at_ends();
  Action reverse_action();
  Action restore_nearest();
  void enter(std::size_t segment);
  Kept kept(std::int64_t step, std::int64_t slot) const;
  Action keep(std::int64_t& slot);
  Action drop(std::int64_t step, std::int64_t slot);
  Action advance(std::int64_t to, bool record);
  Action turn();
  bool in_pool(std::int64_t begin) const { return begin > 0 || problem_.charged_inputs; }
  std::int64_t end_of(std::int64_t branch) const { return problem_.steps[at(branch)]; }

  JoinProblem problem_;
  bool reducible_, record_;
  std::vector<JoinSegment> segments_;  ///< reducible: they end one after the branch's end
  uint128 advances_ = 0;               ///< to come
  std::int64_t adjoints_ = 0;          ///< to come

  Phase phase_ = Phase::kForward;
  bool turned_ = false;        ///< every branch was run once
  std::int64_t branch_ = 0;    ///< whose turn it is
  std::int64_t live_ = kNone;  ///< step of branch_; kNone: undefined
  /// Segments by branch and begin, as the forward sweep comes to them.
  std::vector<std::size_t> by_place_;
  std::size_t next_place_ = 0;
  std::vector<std::int64_t> begin_slot_;  ///< by segment; kNone: not kept
  std::vector<std::int64_t> end_slot_;    ///< by branch

  std::size_t segment_ = 0;  ///< being reversed
  std::int64_t target_ = 0;  ///< the state to reach in it
  bool recorded_ = false;    ///< the tape of step target_ is in the caller's fields
  std::vector<Entry> kept_;  ///< within the segment
  Splitter splitter_;

  std::int64_t slots_begun_ = 0;  ///< slots from here on were never used
  std::vector<std::int64_t> free_slots_;
};

RuleOptions rules_of(const BranchOptions& options);

}  // namespace anadrome::schedule

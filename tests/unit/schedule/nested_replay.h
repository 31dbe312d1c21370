// A model machine that plays the actions of a Nested and breaks, with std::logic_error, on any rule
// they break. It knows action.h and what a unit of memory is, and no planner.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schedule/nested.h"

namespace anadrome::schedule {

struct NestedTotals {
  std::int64_t advances = 0;  ///< steps run, recorded ones not included
  std::int64_t recorded = 0;
  std::int64_t writes = 0, reads = 0;  ///< of the disk
  std::int64_t most_units = 0, most_disk_slots = 0;
  friend bool operator==(const NestedTotals&, const NestedTotals&) = default;
};

class NestedMachine {
 public:
  /// What a step number stands for; 1 for all of them by default.
  using OfStep = std::function<std::int64_t(std::int64_t)>;

  /// `steps`: n, where the options leave it unknown.
  NestedMachine(Nested& nested, const NestedOptions& options, std::int64_t steps,
                OfStep state_units = {}, OfStep step_cost = {});

  /// Plays to kDone; every promise of advances_remaining is compared with what came.
  NestedTotals sweep();

  /// Of all advances so far.
  std::int64_t cost() const { return cost_; }

 private:
  struct Held {
    bool tape;
    std::int64_t step, units;
  };

  void play(const Action& action);
  void advance(const Action& action);
  void keep(const Action& action, bool tape);
  void restore(const Action& action, bool tape);
  void drop(const Action& action, bool tape);
  void disk(const Action& action);
  void end_checks();
  void require(bool holds, const std::string& rule) const;

  Nested& nested_;
  NestedOptions options_;
  std::int64_t steps_;
  OfStep state_units_, step_cost_;
  std::optional<std::int64_t> live_ = 0, tape_;
  std::map<std::int64_t, Held> ram_;           ///< by first unit
  std::map<std::int64_t, std::int64_t> disk_;  ///< step by slot
  std::set<std::int64_t> recorded_before_;
  std::int64_t run_before_ = 0, next_adjoint_ = 0, idle_ = 0, played_ = 0, units_ = 0, cost_ = 0;
  bool turned_ = false;
  Action current_;
  NestedTotals totals_;
};

/// One sweep on a fresh machine, with the planner's own sizes of states.
NestedTotals replay(const NestedOptions& options, std::unique_ptr<Planner> planner);

}  // namespace anadrome::schedule

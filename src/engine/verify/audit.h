// SPDX-License-Identifier: BSD-2-Clause
// Finds out whether steps can be run again: fingerprints of states when they are computed first,
// and when they are computed again.
//
// The library sees a state only at the ends of advances. So an advance of the forward sweep ends
// where one is to be taken, and one that runs steps again ends where one was. The states are such
// as will be computed again under every schedule: those that are not kept, and the last one before
// an advance's end, which is the farthest from where its recomputation starts.
//
// A program that runs one step of each advance comes to a state that depends on the number of
// parts. So an advance is handed out in two parts up to its fingerprint, the next one in up to
// nine: a recomputation in as many cannot be that of both.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/ranks/held.h"
#include "engine/sweep/sweep_plan.h"
#include "engine/sweep/sweep_state.h"
#include "engine/verify/comparison.h"
#include "schedule/words/sweep.h"

namespace anadrome::engine {

class Audits {
 public:
  Audits(Held& held, const SweepPlan& plan, SweepState& sweep, Comparison& comparison)
      : held_(held), plan_(plan), sweep_(sweep), comparison_(comparison) {}

  /// Before a sweep's first action.
  void begin();
  /// The schedule's next advance; its first state is live. Takes or chooses fingerprints.
  void choose(const schedule::Advance& advance, const LiveState& live);
  /// Where this advance has to end for a fingerprint; its last step, if there is nothing.
  std::int64_t end_of_part(const schedule::Advance& advance) const {
    return entries_.empty() && chosen_ < 0 ? advance.last : next_look(advance);
  }
  /// State `step` is live, and was computed for the first time.
  void computed(std::int64_t step, const LiveState& live) {
    if (step == chosen_) take(step, live);
  }
  /// ... or again. Collective where it was chosen.
  void computed_again(std::int64_t step, const LiveState& live) {
    if (!entries_.empty()) compare(step, live);
  }

 private:
  struct Entry {
    std::int64_t step = 0;
    std::int64_t number = 0;  ///< among the states that could be chosen
    std::size_t place = 0;    ///< of its fingerprints
  };
  using Entries = std::vector<Entry>;
  Entries::const_iterator first_from(std::int64_t step) const;
  std::int64_t next_look(const schedule::Advance& advance) const;
  bool is_due(bool last);
  void thin_out();
  Entries::const_iterator forget(Entries::const_iterator entry);
  Fingerprints prints_at(std::size_t place) {
    return Fingerprints(prints_).subspan(place * comparison_.fields(), comparison_.fields());
  }
  void take(std::int64_t step, const LiveState& live);
  void compare(std::int64_t step, const LiveState& live);

  Held& held_;
  const SweepPlan& plan_;
  SweepState& sweep_;
  Comparison& comparison_;
  bool on_ = false;
  Entries entries_;                  ///< by their steps
  std::vector<Fingerprint> prints_;  ///< at place 0: of the state being compared
  std::vector<std::size_t> places_;  ///< free ones
  std::int64_t candidates_ = 0;      ///< states that could be chosen so far
  std::int64_t stride_ = 0;          ///< every so many are, after the first
  std::int64_t started_at_ = -1;     ///< the first step of the advance under way
  std::int64_t chosen_ = -1;         ///< a step of the advance under way; -1: none
  bool by_single_steps_ = false;     ///< it is handed out so, as far as that is short
};

}  // namespace anadrome::engine

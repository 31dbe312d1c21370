// SPDX-License-Identifier: BSD-2-Clause
// The first steps of a run, twice: whether a program can run steps again shows before hours have
// been spent on it.
//
// Steps 0 .. N-1 are handed out one by one; then x_0 is restored and they are handed out once more,
// as one advance, and every bit of x_N is compared. The sweep goes on from x_N. Step 0 alone comes
// before, likewise: after two steps arrays that change places at every step are where they were,
// and the program finds x_0 where it expects it. Where x_N is x_0 bit for bit, the model is at
// rest, and more than twice as many later steps are taken instead: the x_0 that is kept is their
// first state, too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/keep/keeper.h"
#include "engine/sweep/context.h"
#include "engine/verify/comparison.h"

namespace anadrome::engine {

class Preflight {
 public:
  Preflight(Peers& peers, const Asked& asked, Play& play, Keeper& keeper, Comparison& comparison)
      : peers_(peers), asked_(asked), play_(play), keeper_(keeper), comparison_(comparison) {}

  /// Before a sweep's first action.
  void begin();
  /// Will this sweep have one, or does it now?
  bool on() const { return stage_ != Stage::kOff; }
  /// Are steps being handed out again?
  bool repeats() const { return stage_ == Stage::kAgain; }
  /// Where this advance, which runs steps for the first time, has to end for it.
  std::int64_t end_of_part(const schedule::Advance& advance) const;
  /// x_first is live, computed for the first time. Collective where that is the last of the steps.
  void computed(std::int64_t first);
  /// The same at the end of the forward sweep, which may come before the last of the steps.
  void turns_at(std::int64_t step);
  /// The steps to be handed out again.
  schedule::Advance again() const { return {first_, last_, 0, false, true}; }
  /// A step came back.
  void took(double seconds) { step_seconds_ = std::max(step_seconds_, seconds); }
  /// They came back again; x_last is live. Collective.
  void compare();
  /// Why a run's first sweep had none; empty: it had one, or none was wanted.
  const char* left_out() const { return left_out_; }
  /// It looked at every step, and none changed the state.
  bool at_rest() const { return at_rest_; }

 private:
  enum class Stage { kOff, kFirst, kAgain };
  enum : std::size_t { kStart, kOneStep, kLast, kNow };

  Fingerprints prints(std::size_t of) {
    return Fingerprints(prints_).subspan(of * comparison_.fields(), comparison_.fields());
  }
  bool same_here(std::size_t one, std::size_t other);
  bool is_worth_it();
  void start_again();
  void give_back_spare();
  void end();
  void reached();
  void leave_out();
  const char* cause();

  Peers& peers_;
  const Asked& asked_;
  Play& play_;
  Keeper& keeper_;
  Comparison& comparison_;
  Stage stage_ = Stage::kOff;
  std::size_t passed_fields_ = 0;  ///< the fields that there were when it was passed
  std::int64_t first_ = 0, last_ = 0;
  std::int64_t whole_ = 0;   ///< what last_ is in the end
  bool has_spare_ = false;   ///< every rank has a block for it:
  std::int64_t spare_ = -1;  ///< with the first x_last
  double step_seconds_ = 0, began_ = 0;
  struct Agreed {
    std::int64_t count = 0;
    double seconds = 0;
  } agreed_;
  std::vector<Fingerprint> prints_;
  const char* left_out_ = "";
  bool at_rest_ = false;
};

}  // namespace anadrome::engine

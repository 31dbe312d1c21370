// SPDX-License-Identifier: BSD-2-Clause
// The notes on every step: when it ended, how large it was, the size that was to follow, when it
// began, and what its solution looked like. 32 bytes a step and 8 for every field, and a little for
// steps that took more than one attempt, so that a step can be run again exactly as it was, and it
// can be told whether it was.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "api/petsc/steps/fingerprint.h"

namespace anadrome::petsc {

/// One call of TSStep: the sizes that its controller refused, and the one it took.
struct StepCall {
  std::vector<PetscReal> refused;
  PetscReal size = 0;
};

/// How a step came about: all calls but the last were rolled back, as an event was found in them.
struct StepCalls {
  bool restarted =
      false;  ///< TSRestartStep: what the method remembers of earlier steps was not used
  std::vector<StepCall> calls;
};

struct StepNote {
  PetscReal time = 0;
  PetscReal size = 0;           ///< of the step that led here
  PetscReal next_size = 0;      ///< as the TS meant it when the record was made
  PetscReal previous_time = 0;  ///< when the step began: the program may have set the clock
};

class StepNotes {
 public:
  void begin(PetscInt step, std::size_t fields) {
    base_ = step;
    fields_ = fields;
    notes_.clear();
    products_.clear();
    unusual_.clear();
  }
  void add(const StepNote& note, StepCalls&& calls, const Fingerprint& print) {
    const bool usual = !calls.restarted && calls.calls.size() <= 1 &&
                       (calls.calls.empty() || calls.calls[0].refused.empty());
    if (!usual) unusual_[base_ + static_cast<PetscInt>(notes_.size())] = std::move(calls);
    notes_.push_back(note);
    products_.insert(products_.end(), print.products.begin(), print.products.end());
  }
  const StepNote& at(PetscInt step) const { return notes_[index(step)]; }
  PetscInt first() const { return base_; }
  std::size_t fields() const { return fields_; }
  /// The fingerprint of the solution.
  double product(PetscInt step, std::size_t field) const {
    return products_[index(step) * fields_ + field];
  }
  /// Was the solution of record `step` this one, field by field?
  bool are_of(PetscInt step, const Fingerprint& print) const {
    const auto first = products_.begin() + static_cast<std::ptrdiff_t>(index(step) * fields_);
    return std::equal(first, first + static_cast<std::ptrdiff_t>(fields_), print.products.begin(),
                      print.products.end());
  }
  /// How the step that led to record `step` came about.
  StepCalls calls(PetscInt step) const {
    const auto found = unusual_.find(step);
    if (found != unusual_.end() && !found->second.calls.empty()) return found->second;
    return {found != unusual_.end() && found->second.restarted, {{{}, at(step).size}}};
  }

 private:
  std::size_t index(PetscInt step) const { return static_cast<std::size_t>(step - base_); }

  PetscInt base_ = 0;
  std::size_t fields_ = 1;
  std::deque<StepNote> notes_;
  std::deque<double> products_;
  std::map<PetscInt, StepCalls> unusual_;
};

}  // namespace anadrome::petsc

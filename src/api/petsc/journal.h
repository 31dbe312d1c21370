// SPDX-License-Identifier: BSD-2-Clause
// The notes on every step: when it ended, the step size that was to follow, and what its solution
// looked like. 16 bytes a step and 8 for every field, so that a step can be run again exactly as it
// was, and it can be told whether it was.
#pragma once

#include <deque>
#include <vector>

#include "api/petsc/fingerprint.h"

namespace anadrome::petsc {

struct StepNote {
  PetscReal time = 0;
  PetscReal next_size = 0;  ///< as the TS meant it when the record was made
};

class Journal {
 public:
  void begin(PetscInt step, std::size_t fields) {
    base_ = step;
    fields_ = fields;
    notes_.clear();
    products_.clear();
  }
  void add(const StepNote& note, const Fingerprint& print) {
    notes_.push_back(note);
    products_.insert(products_.end(), print.products.begin(), print.products.end());
  }
  const StepNote& at(PetscInt step) const { return notes_[index(step)]; }
  std::size_t fields() const { return fields_; }
  /// The fingerprint of the solution.
  double product(PetscInt step, std::size_t field) const {
    return products_[index(step) * fields_ + field];
  }
  /// The size of the step that led from `step` to step + 1. The intended one, where it leads to the
  /// recorded time bit by bit; a difference of times is not always the step size.
  PetscReal step_size(PetscInt step) const {
    const StepNote& from = at(step);
    const PetscReal to = at(step + 1).time;
    return from.time + from.next_size == to ? from.next_size : to - from.time;
  }

 private:
  std::size_t index(PetscInt step) const { return static_cast<std::size_t>(step - base_); }

  PetscInt base_ = 0;
  std::size_t fields_ = 1;
  std::deque<StepNote> notes_;
  std::deque<double> products_;
};

}  // namespace anadrome::petsc

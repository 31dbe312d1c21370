// What is remembered of every step: when it ended, the step size that was to follow, and what its
// solution looked like. 32 bytes a step, so that a step can be run again exactly as it was, and it
// can be told whether it was.
#pragma once

#include <petscts.h>

#include <cstdint>
#include <deque>

#include "api/petsc/fingerprint.h"

namespace anadrome::petsc {

struct StepNote {
  PetscReal time = 0;
  PetscReal next_size = 0;  ///< what the TS meant to do next, when the record was made
  Fingerprint print;
};

class Journal {
 public:
  void begin(PetscInt step) {
    base_ = step;
    notes_.clear();
  }
  void add(const StepNote& note) { notes_.push_back(note); }
  const StepNote& at(PetscInt step) const { return notes_[static_cast<std::size_t>(step - base_)]; }
  /// The size of the step that led from `step` to step + 1. The intended one, where it leads to the
  /// recorded time bit by bit; a difference of times is not always the step size.
  PetscReal step_size(PetscInt step) const {
    const StepNote& from = at(step);
    const PetscReal to = at(step + 1).time;
    return from.time + from.next_size == to ? from.next_size : to - from.time;
  }

 private:
  PetscInt base_ = 0;
  std::deque<StepNote> notes_;
};

}  // namespace anadrome::petsc

// SPDX-License-Identifier: BSD-2-Clause
// What steps and transfers take.
#pragma once

namespace anadrome::schedule {

/// Seconds, the largest over all ranks.
struct StepCosts {
  double forward = 0;  ///< one forward step
  double adjoint = 0;  ///< one adjoint step, its own recomputation included
  double write = 0;    ///< one state to disk
  double read = 0;     ///< one state from disk
  /// Time that a write and a read take from the computation even where they are hidden: the caller
  /// begins them, and without a core of its own the I/O thread needs processor time.
  double write_taken = 0, read_taken = 0;
  double visit = 0;   ///< of a step, in a pass forward; 0: not known, and taken for a forward step
  double passes = 0;  ///< after the sweep: as many are to be weighed with it, half of them forward
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Passes of a ModularModel with its state in arrays, after its sweep, and what they should see.
#pragma once

#include "modular_model.h"

namespace anadrome::test {

/// One hash of the states x_0 .. x_(n-1) in the order of a pass, without the library.
std::uint64_t states_in_order(ModularModel& model, std::int64_t steps,
                              anadrome_direction direction);

/// anadrome_pass, and every action to DONE or to an error. `gradient` is the hash of the states
/// that it saw.
SweepResult pass(anadrome_run* run, ModularModel& model, anadrome_direction direction);
/// The same of anadrome_rewind; `gradient` is that of the second reverse sweep.
SweepResult rewind(anadrome_run* run, ModularModel& model);

}  // namespace anadrome::test

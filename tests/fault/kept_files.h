// SPDX-License-Identifier: BSD-2-Clause
// The files of keep=on, read as a user reads it: states.h5 through HDF5.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "modular_model.h"

namespace anadrome::test {

/// Has `directory` the states of steps `kept`, of all ranks, and nothing else? "", or what is
/// wrong, on rank 0. For a model of arrays. Collective; the model's state is lost.
std::string fault_of_kept_files(const std::string& directory, ModularModel& model,
                                const std::vector<std::int64_t>& kept);

}  // namespace anadrome::test

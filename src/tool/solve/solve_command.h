// SPDX-License-Identifier: BSD-2-Clause
// `anadrome solve`: what planners answer beside the schedules of a run, each with options of its
// own.
#pragma once

#include "tool/command.h"

namespace anadrome::tool {

Command add_solve(CLI::App& tool);

}  // namespace anadrome::tool

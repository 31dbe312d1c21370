// SPDX-License-Identifier: BSD-2-Clause
// `anadrome plan`: what a job would take, before it is queued.
#pragma once

#include "tool/command.h"

namespace anadrome::tool {

Command add_plan(CLI::App& tool);

}  // namespace anadrome::tool

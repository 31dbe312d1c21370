// SPDX-License-Identifier: BSD-2-Clause
// `anadrome count`: exact numbers of one schedule, in the abstract.
#pragma once

#include "tool/command.h"

namespace anadrome::tool {

Command add_count(CLI::App& tool);

}  // namespace anadrome::tool

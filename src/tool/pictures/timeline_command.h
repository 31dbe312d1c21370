// SPDX-License-Identifier: BSD-2-Clause
// `anadrome timeline`: a picture of what a run did.
#pragma once

#include "tool/command.h"

namespace anadrome::tool {

Command add_timeline(CLI::App& tool);

}  // namespace anadrome::tool

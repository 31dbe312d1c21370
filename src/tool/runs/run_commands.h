// SPDX-License-Identifier: BSD-2-Clause
// `anadrome inspect`, `verify` and `clean`: what runs left on disk.
#pragma once

#include "tool/command.h"

namespace anadrome::tool {

Command add_inspect(CLI::App& tool);
Command add_verify(CLI::App& tool);
Command add_clean(CLI::App& tool);

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// `anadrome options`: the options of a run, in words.
#pragma once

#include <string>

#include "tool/command.h"

namespace anadrome::tool {

/// The sections of docs/options.md.
std::string options_page();

Command add_options_command(CLI::App& tool);

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// The comparison for a person at a terminal of 80 columns or more, and for one who redirects it.
#pragma once

#include <string>

#include "tool/plan/comparison.h"

namespace anadrome::tool {

/// No line is longer than `columns` >= 80, unless a word is.
std::string comparison_text(const Comparison& comparison, int columns);

/// Columns of the terminal on standard output, or as COLUMNS says; 80 .. 100.
int terminal_columns();

}  // namespace anadrome::tool

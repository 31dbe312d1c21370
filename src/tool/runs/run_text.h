// SPDX-License-Identifier: BSD-2-Clause
// The report on a run, for people.
#pragma once

#include <string>

#include "tool/runs/run_report.h"

namespace anadrome::tool {

/// `verified`: the states were read, too.
std::string describe_run(const RunReport& run, bool verified);

}  // namespace anadrome::tool

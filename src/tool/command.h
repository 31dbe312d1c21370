// SPDX-License-Identifier: BSD-2-Clause
// A subcommand of `anadrome`: its flags, and its action once they are read.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace anadrome::tool {

/// The exit codes of the process.
enum ExitCode : int {
  kFine = 0,
  kNo = 1,        ///< the answer to what was asked is no
  kUsage = 2,     ///< wrong or absurd arguments
  kNoOutput = 3,  ///< the answer could not be written, or a defect
};

struct Command {
  CLI::App* flags = nullptr;
  /// Returns an ExitCode; what it throws is reported by main.
  std::function<int()> run;
};

}  // namespace anadrome::tool

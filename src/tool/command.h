// SPDX-License-Identifier: BSD-2-Clause
// The subcommands of `anadrome`: the flags of each, and its action once they are read.
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

/// What a job would take, before it is queued.
Command add_plan(CLI::App& tool);
/// Exact numbers of one schedule, in the abstract.
Command add_count(CLI::App& tool);
/// What planners answer beside the schedules of a run, each with options of its own.
Command add_solve(CLI::App& tool);
/// What runs left on disk.
Command add_inspect(CLI::App& tool);
Command add_verify(CLI::App& tool);
Command add_clean(CLI::App& tool);
/// A picture of what a run did.
Command add_timeline(CLI::App& tool);
/// The options of a run, in words.
Command add_options_command(CLI::App& tool);

}  // namespace anadrome::tool

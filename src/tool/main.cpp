// SPDX-License-Identifier: BSD-2-Clause
// The `anadrome` command: every subcommand has a line in `commands`.
#include <anadrome/anadrome.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/error.h"
#include "tool/command.h"
#include "tool/count/count_command.h"
#include "tool/pictures/timeline_command.h"
#include "tool/plan/plan_command.h"
#include "tool/runs/run_commands.h"
#include "tool/solve/solve_command.h"

namespace anadrome::tool {
namespace {

int complain(const std::string& message, int exit_code) {
  std::fprintf(stderr, "anadrome: %s\n", message.c_str());
  return exit_code;
}

// The fault in the words, and the help that has them.
std::string account_of(const CLI::App& tool, const CLI::ParseError& error) {
  std::string name = "anadrome", what = error.what();
  const CLI::App* deepest = &tool;
  while (!deepest->get_subcommands().empty()) {
    deepest = deepest->get_subcommands().front();
    name += " " + deepest->get_name();
  }
  // A misspelt option is the reason why another is missing.
  const std::vector<std::string> unknown = tool.remaining(true);
  if (!unknown.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    what = "'" + unknown.front() + "' is not known here";
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::size_t flag = what.find(" was given a disallowed flag override");
    what = flag == std::string::npos ? what.substr(0, what.find(':')) + " needs a value"
                                     : "--" + what.substr(0, flag) + " has no value";
  }
  return what + "; see " + name + " --help";
}

int run_command(int argc, char** argv) {
  CLI::App tool("Checkpoints of time-dependent simulations for their adjoints.", "anadrome");
  tool.set_version_flag("--version", std::string("anadrome ") + anadrome_version());
  tool.require_subcommand(0, 1);
  const std::vector<Command> commands = {add_plan(tool),    add_count(tool),  add_solve(tool),
                                         add_inspect(tool), add_verify(tool), add_clean(tool),
                                         add_timeline(tool)};
  try {
    tool.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return tool.exit(error);  // --help, --version
    return complain(account_of(tool, error), kUsage);
  }
  for (const Command& command : commands) {
    if (command.flags->parsed()) return command.run();
  }
  return complain("a subcommand is missing; see anadrome --help", kUsage);
}

}  // namespace
}  // namespace anadrome::tool

int main(int argc, char** argv) {
  using namespace anadrome;
  try {
    return tool::run_command(argc, argv);
  } catch (const Error& error) {
    const bool usage =
        error.status() == ANADROME_ERR_ARGUMENT || error.status() == ANADROME_ERR_MEMORY;
    return tool::complain(error.what(), usage ? tool::kUsage : tool::kNoOutput);
  } catch (const std::bad_alloc&) {
    return tool::complain("not enough memory for this", tool::kUsage);
  } catch (const std::exception& error) {
    return tool::complain(error.what(), tool::kNoOutput);
  }
}

// SPDX-License-Identifier: BSD-2-Clause
// The `anadrome` command: every subcommand has a line in `commands`.
#include <anadrome/anadrome.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/plain_text.h"
#include "base/words.h"
#include "tool/command.h"

namespace anadrome::tool {
namespace {

int complain(const std::string& message, int exit_code) {
  std::fprintf(stderr, "anadrome: %s\n", plain(message).c_str());
  return exit_code;
}

// Options that begin like an unknown one, or else the nearest; "" where there are none.
std::string suggestion(const CLI::App& command, const std::string& unknown) {
  if (!unknown.starts_with("--")) return "";
  const std::string word = unknown.substr(0, unknown.find('='));
  std::vector<std::string> all, alike;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      all.push_back("--" + name);
      if (all.back().starts_with(word)) alike.push_back(all.back());
    }
  }
  if (all.empty()) return "";
  if (alike.empty()) {
    const std::vector<std::string_view> words(all.begin(), all.end());
    alike.emplace_back(nearest(words, word));
  }
  std::string text = "; did you mean ";
  for (const std::string& name : alike) text += (name == alike.front() ? "" : " or ") + name;
  return text + "?";
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
  if (!unknown.empty() && (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                           dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)) {
    const auto option = std::find_if(unknown.begin(), unknown.end(),
                                     [](const std::string& word) { return word.starts_with("-"); });
    const std::string& word = option != unknown.end() ? *option : unknown.front();
    what = "'" + word + "' is not known here" + suggestion(*deepest, word);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::size_t flag = what.find(" was given a disallowed flag override");
    const bool often = what.find(": At Most 1 ") != std::string::npos;
    what = flag != std::string::npos
               ? "--" + what.substr(0, flag) + " has no value"
               : what.substr(0, what.find(':')) + (often ? " is given twice" : " needs a value");
  }
  return what + "; see " + name + " --help";
}

int run_command(int argc, char** argv) {
  CLI::App tool("Checkpoints of time-dependent simulations for their adjoints.", "anadrome");
  tool.set_version_flag("--version", std::string("anadrome ") + anadrome_version());
  tool.require_subcommand(0, 1);
  const std::vector<Command> commands = {
      add_plan(tool),   add_count(tool), add_solve(tool),    add_inspect(tool),
      add_verify(tool), add_clean(tool), add_timeline(tool), add_options_command(tool)};
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

#include "tool/runs/run_commands.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/run_listing.h"
#include "tool/output.h"
#include "tool/runs/run_check.h"
#include "tool/runs/run_text.h"

namespace anadrome::tool {
namespace {

using store::ListedRun;
using store::RunState;

struct Flags {
  std::string directory;
  bool json = false;
};

std::vector<ListedRun> runs_in(const std::string& directory) {
  std::vector<ListedRun> runs = store::list_runs(directory);
  if (runs.empty()) {
    throw Error(ANADROME_ERR_ARGUMENT, "there is no run in " + directory +
                                           ": give a run's directory, or one with runs in it");
  }
  return runs;
}

int report(const Flags& flags, Depth depth) {
  const bool verify = depth == Depth::kBytes;
  bool fine = true;
  nlohmann::json all = nlohmann::json::array();
  for (const ListedRun& listed : runs_in(flags.directory)) {
    const RunReport run = check_run(listed, depth);
    // A live run is not read, and so not verified.
    fine = fine && run.healthy && !(verify && listed.state == RunState::kLive);
    if (flags.json) {
      all.push_back(to_json(run));
    } else {
      put_out(describe_run(run, verify));
    }
  }
  if (flags.json) {
    const nlohmann::json answer = {{"runs", all}};
    put_out(answer.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  return fine ? kFine : kNo;
}

int clean(const Flags& flags) {
  int code = kFine;
  for (const ListedRun& run : runs_in(flags.directory)) {
    switch (run.state) {
      case RunState::kKept:
        put_out(run.path + (condition_of(run) == Condition::kStopped
                                ? ": stopped, not touched: it can go on\n"
                                : ": kept, not touched\n"));
        break;
      case RunState::kLive:
        put_out(run.path + ": live, not touched: held by " +
                store::describe_holder(run.lock, calendar_seconds()) + "\n");
        code = kNo;
        break;
      case RunState::kDead:
        try {
          store::remove_dead_run(run.path);
          put_out(run.path + ": removed\n");
        } catch (const Error& error) {  // the others can be removed all the same
          std::fprintf(stderr, "anadrome: %s\n", error.what());
          code = kNo;
        }
        break;
    }
  }
  return code;
}

Command add(CLI::App& tool, const char* name, const char* help, bool can_json,
            int (*run)(const Flags&)) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* command = tool.add_subcommand(name, help);
  command->add_option("DIR", flags->directory, "A run's directory, or one with runs in it")
      ->required();
  if (can_json) command->add_flag("--json", flags->json, "For programs");
  return {command, [flags, run] { return run(*flags); }};
}

}  // namespace

Command add_inspect(CLI::App& tool) {
  return add(tool, "inspect", "What runs left on disk, without reading the states.", true,
             [](const Flags& flags) { return report(flags, Depth::kStructure); });
}

Command add_verify(CLI::App& tool) {
  return add(tool, "verify", "Read all states on disk and compare their checksums.", true,
             [](const Flags& flags) { return report(flags, Depth::kBytes); });
}

Command add_clean(CLI::App& tool) {
  return add(tool, "clean", "Remove what dead runs left; live and kept ones stay.", false, clean);
}

}  // namespace anadrome::tool

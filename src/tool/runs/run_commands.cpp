// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/byte_size.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/index.h"
#include "base/plain_text.h"
#include "tool/command.h"
#include "tool/options.h"
#include "tool/output.h"
#include "tool/runs/run_listing.h"
#include "tool/runs/run_report.h"

namespace anadrome::tool {
namespace {

struct Flags {
  std::string directory;
  bool json = false;
  // Of clean.
  double older_than = 0;  ///< seconds
  bool stopped = false, kept = false;
};

std::vector<ListedRun> runs_in(const std::string& directory) {
  std::vector<ListedRun> runs = list_runs(directory);
  if (runs.empty()) {
    throw Error(
        ANADROME_ERR_ARGUMENT,
        "there is no run in " + directory +
            ": give a run's directory, or one with runs in it (a directory that holds other "
            "files, too, is left alone)");
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
    put_out(answer.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n");
  }
  return fine ? kFine : kNo;
}

// Why a run stays; "" if it goes.
std::string reason_to_stay(const ListedRun& run, const Flags& flags) {
  const std::int64_t now = calendar_seconds();
  switch (condition_of(run)) {
    case Condition::kLive:
      return "live, not touched: held by " + store::describe_holder(run.lock, now);
    case Condition::kStopped:
      if (!flags.stopped) return "stopped, not touched: it can be resumed";
      break;
    case Condition::kKept:
      if (!flags.kept) return "kept, not touched";
      break;
    case Condition::kDead:
      break;
  }
  if (const std::string file = file_of_nobody(run); !file.empty()) {
    return "not touched: nothing says that '" + file + "' is the run's";
  }
  // The clock of a file server may be ahead.
  const auto age = real(std::max<std::int64_t>(now - run.changed, 0));
  if (age >= flags.older_than) return "";
  return std::string(name_of(condition_of(run))) + ", not touched: changed " + format_seconds(age) +
         " ago";
}

int clean(const Flags& flags) {
  int code = kFine;
  for (const ListedRun& run : runs_in(flags.directory)) {
    try {
      const std::string reason = reason_to_stay(run, flags);
      if (!reason.empty()) {
        put_out(plain(run.path + ": " + reason) + "\n");
        if (run.state == RunState::kLive) code = kNo;
        continue;
      }
      run.state == RunState::kDead ? remove_dead_run(run) : remove_kept_run(run);
      put_out(plain(run.path) + ": removed\n");
    } catch (const Error& error) {  // the others can be removed all the same
      std::fprintf(stderr, "anadrome: %s\n", plain(error.what()).c_str());
      code = kNo;
    }
  }
  return code;
}

struct Added {
  Command command;
  std::shared_ptr<Flags> flags;
};

Added add(CLI::App& tool, const char* name, const char* help, int (*run)(const Flags&)) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* command = tool.add_subcommand(name, help);
  command->add_option("DIR", flags->directory, "A run's directory, or one with runs in it")
      ->required();
  return {{command, [flags, run] { return run(*flags); }}, flags};
}

Command add_reader(CLI::App& tool, const char* name, const char* help, int (*run)(const Flags&)) {
  const Added added = add(tool, name, help, run);
  added.command.flags->add_flag("--json", added.flags->json, "For programs")
      ->disable_flag_override();
  return added.command;
}

}  // namespace

Command add_inspect(CLI::App& tool) {
  return add_reader(tool, "inspect", "List what runs left on disk, without reading the states.",
                    [](const Flags& flags) { return report(flags, Depth::kStructure); });
}

Command add_verify(CLI::App& tool) {
  return add_reader(tool, "verify", "Read all states on disk and compare their checksums.",
                    [](const Flags& flags) { return report(flags, Depth::kBytes); });
}

Command add_clean(CLI::App& tool) {
  const Added added =
      add(tool, "clean",
          "Remove what dead runs left. Stopped and kept runs stay unless an option names them; "
          "live runs always stay.\nExample: anadrome clean /scratch/me --older-than 30d --stopped",
          clean);
  Options options(*added.command.flags);
  options.seconds("--older-than", added.flags->older_than, 0,
                  {"Only runs whose files have not changed for this long", "30d", "any"});
  options.flag("--stopped", added.flags->stopped,
               "Also runs that were stopped after a commit: they cannot be resumed afterwards");
  options.flag("--kept", added.flags->kept, "Also the files of runs that ended with keep=on");
  return added.command;
}

}  // namespace anadrome::tool

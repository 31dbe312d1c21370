// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/run_report.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/byte_size.h"
#include "base/clock.h"
#include "base/index.h"
#include "base/plain_text.h"

namespace anadrome::tool {
namespace {

using nlohmann::json;

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json file_json(const FileReport& file) {
  return {{"name", file.name},
          {"bytes", file.bytes},
          {"allocated", file.allocated},
          {"problems", file.problems},
          {"notes", file.notes}};
}

json holder_json(const HolderReport& holder) {
  return {{"host", holder.host},
          {"process", holder.process},
          {"since", holder.since},
          {"heartbeat", holder.heartbeat},
          {"text", holder.text}};
}

json commit_json(const store::JournalCommit& commit) {
  const bool forward = commit.phase == store::JournalCommit::Phase::kForward;
  return {{"generation", commit.generation},
          {"phase", forward ? "forward" : "reverse"},
          {"position", commit.position},
          {"steps", commit.steps},
          {"anchors", commit.anchors}};
}

// In the order of Condition.
struct Words {
  const char *name, *meaning;
};
constexpr std::array<Words, 4> kConditions = {
    {{"live", "a process is at work on it"},
     {"dead", "its process ended before the run did"},
     {"kept", "it ended, and kept its files"},
     {"stopped", "it was closed after a commit, before its end"}}};

const Words& words_of(Condition condition) {
  return kConditions[static_cast<std::size_t>(condition)];
}

std::string word(const std::optional<std::string>& text) { return text ? plain(*text) : "?"; }
std::string word(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "?";
}

std::string no_way_on(const RunReport& run) {
  return "  cannot be resumed (resume was off, or nothing was committed): `anadrome clean " +
         plain(run.path) + "` removes it\n";
}

std::string describe_reading(const RunReport& run) {
  std::string text = "  read     " + std::to_string(run.blocks_checked) + " blocks";
  if (run.adjoints_checked > 0)
    text += ", adjoint fields of " + counted(run.adjoints_checked, "rank");
  if (run.blocks_unchecked > 0) {
    text += ", " + std::to_string(run.blocks_unchecked) + " more have no checksum";
  }
  if (run.blocks_elsewhere > 0) {
    text += "; " + std::to_string(run.blocks_elsewhere) + " more are in the run's fast directory";
  }
  return text + "\n";
}

}  // namespace

const char* name_of(Condition condition) { return words_of(condition).name; }

json to_json(const RunReport& run) {
  json files = json::array();
  for (const FileReport& file : run.files) files.push_back(file_json(file));
  return {{"path", run.path},
          {"state", name_of(run.condition)},
          {"run_id", or_null(run.run_id)},
          {"layout", or_null(run.layout)},
          {"schedule", or_null(run.schedule)},
          {"sweep", or_null(run.sweep)},
          {"steps", or_null(run.steps)},
          {"ranks", or_null(run.ranks)},
          {"anchors", or_null(run.anchors)},
          {"first_step", or_null(run.first_step)},
          {"newest_step", or_null(run.newest_step)},
          {"holder", run.holder ? holder_json(*run.holder) : json(nullptr)},
          {"phase", or_null(run.phase)},
          {"petsc", run.petsc_ranks == 0 ? json(nullptr)
                                         : json{{"adjoint_commits_of_ranks", run.petsc_ranks},
                                                {"changed", run.petsc_changed}}},
          {"resume", run.resume ? commit_json(*run.resume) : json(nullptr)},
          {"bytes", run.bytes},
          {"allocated", run.allocated},
          {"blocks_checked", run.blocks_checked},
          {"blocks_unchecked", run.blocks_unchecked},
          {"blocks_elsewhere", run.blocks_elsewhere},
          {"adjoints_checked", run.adjoints_checked},
          {"files", std::move(files)},
          {"problems", run.problems},
          {"healthy", run.healthy}};
}

std::string describe_run(const RunReport& run, bool verified) {
  const bool live = run.condition == Condition::kLive;
  std::string text = plain(run.path) + ": " + name_of(run.condition) + " (" +
                     words_of(run.condition).meaning + ")\n";
  text += "  run      " + word(run.run_id) + ", sweep " + word(run.sweep) + ", " + word(run.ranks) +
          " ranks, layout " + word(run.layout) + "\n";
  if (run.holder) text += "  holder   " + plain(run.holder->text) + "\n";
  if (live) {
    text += "  phase    " +
            (run.phase ? "rank 0 is " + *run.phase
                       : "not known: runs with the option watchdog leave it here") +
            "\n";
  }
  text += "  on disk  " + std::to_string(run.files.size()) + " files, ";
  if (run.allocated < run.bytes) text += format_bytes(run.allocated) + ", with their holes ";
  text += format_bytes(run.bytes) + "\n";
  if (run.anchors) {
    text += "  states   " + word(run.anchors) + " of " + word(run.steps) + " steps";
    if (run.newest_step) {
      text += ", x_" + word(run.first_step) + " to x_" + word(run.newest_step);
    }
    text += "\n";
  }
  if (run.resume) {
    const bool forward = run.resume->phase == store::JournalCommit::Phase::kForward;
    text += "  resume   " +
            std::string(forward ? "forward sweep, from step "
                                : "reverse sweep, to be adjoined up to step ") +
            std::to_string(run.resume->position) + " (generation " +
            std::to_string(run.resume->generation) + ")\n";
  }
  if (run.petsc_ranks > 0) {
    text +=
        "  petsc    TSAdjointSolve goes on from commits of " + counted(run.petsc_ranks, "rank") +
        " beside this directory, the newest written " +
        format_seconds(real(std::max<std::int64_t>(calendar_seconds() - run.petsc_changed, 0))) +
        " ago\n";
  }
  if (run.ranks_elsewhere > 0) {
    text += "  resume   depends on the journals of " + counted(run.ranks_elsewhere, "more rank") +
            ", on other nodes\n";
  }
  if (verified) {
    text +=
        live ? "  the states of a live run were not read: they change\n" : describe_reading(run);
  }
  for (const std::string& problem : run.problems) text += "  problem  " + plain(problem) + "\n";
  for (const FileReport& file : run.files) {
    for (const std::string& problem : file.problems) {
      text += "  problem  " + plain(file.name) + ": " + plain(problem) + "\n";
    }
    for (const std::string& note : file.notes) {
      text += "  note     " + plain(file.name) + ": " + plain(note) + "\n";
    }
  }
  const bool ends_here =
      run.condition == Condition::kDead && !run.resume && run.ranks_elsewhere == 0;
  if (ends_here) text += no_way_on(run);
  if (!live && !run.healthy) text += "  not healthy\n";
  if (!live && run.healthy && !ends_here) text += "  healthy\n";
  return text;
}

}  // namespace anadrome::tool

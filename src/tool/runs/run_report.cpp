// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/run_report.h"

#include <nlohmann/json.hpp>

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

}  // namespace

const char* name_of(Condition condition) {
  switch (condition) {
    case Condition::kLive:
      return "live";
    case Condition::kDead:
      return "dead";
    case Condition::kKept:
      return "kept";
    case Condition::kStopped:
      break;
  }
  return "stopped";
}

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

}  // namespace anadrome::tool

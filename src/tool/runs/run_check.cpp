#include "tool/runs/run_check.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tool/runs/journal_check.h"

namespace anadrome::tool {
namespace {

using nlohmann::json;
using store::RunState;

const char* text_of(RunState state) {
  switch (state) {
    case RunState::kLive:
      return "live";
    case RunState::kDead:
      return "dead";
    case RunState::kKept:
      break;
  }
  return "kept";
}

bool begins_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

bool is_copy(const std::string& name) { return begins_with(name, "segment-copy"); }

// Names come from numbers: one file in place of another contradicts itself.
void compare_with_name(const std::string& name, json& report) {
  if (!report.contains("segment") || is_copy(name)) return;
  char start[40];
  std::snprintf(start, sizeof start, "segment-%05lld",
                static_cast<long long>(report["segment"].get<std::int64_t>()));
  if (begins_with(name, start)) return;
  report["problems"].push_back("it says that it is " + std::string(start));
}

// Takes `key` of a file's report over into the run's; two files must not contradict each other.
void adopt(json& run, const json& file, const char* key, const char* as = nullptr) {
  if (!file.contains(key)) return;
  json& there = run[as != nullptr ? as : key];
  if (there.is_null()) there = file[key];
  if (there != file[key]) {
    run["problems"].push_back(std::string("files differ in ") + (as != nullptr ? as : key));
  }
}

// Of a kept run: every rank's states in all segments together are those the master names.
void compare_with_master(json& run, const json& master,
                         const std::map<std::int64_t, std::map<std::int64_t, json>>& by_rank) {
  const auto expected = master.value("steps", std::vector<std::int64_t>{});
  for (const auto& [rank, segments] : by_rank) {
    std::vector<std::int64_t> steps;
    for (const auto& [number, part] : segments) {
      const auto more = part.get<std::vector<std::int64_t>>();
      steps.insert(steps.end(), more.begin(), more.end());
    }
    if (steps != expected) {
      run["problems"].push_back(
          "the states of rank " + std::to_string(rank) + " are not those that states.h5 names: " +
          std::to_string(steps.size()) + " instead of " + std::to_string(expected.size()));
    }
  }
  run["anchors"] = expected.size();
  if (!expected.empty()) {
    run["first_step"] = expected.front();
    run["newest_step"] = expected.back();
  }
}

// From which commit all ranks can go on: the newest that every one of them has.
json common_commit(const std::vector<json>& journals) {
  json newest = nullptr;
  if (journals.empty()) return newest;
  const auto ranks = journals.front().value("ranks", std::int64_t{0});
  std::set<std::int64_t> seen;
  for (const json& journal : journals) seen.insert(journal.value("rank", std::int64_t{-1}));
  if (static_cast<std::int64_t>(seen.size()) != ranks) return newest;
  for (const json& commit : journals.front()["commits"]) {
    const bool everywhere = std::all_of(journals.begin(), journals.end(), [&](const json& journal) {
      const json& commits = journal["commits"];
      return std::any_of(commits.begin(), commits.end(), [&](const json& other) {
        return other["generation"] == commit["generation"];
      });
    });
    if (everywhere) newest = commit;
  }
  return newest;
}

}  // namespace

json check_run(const store::ListedRun& listed, Depth depth) {
  const bool kept = listed.state == RunState::kKept;
  const Depth looked = listed.state == RunState::kLive ? Depth::kStructure : depth;
  json run = {{"path", listed.path},    {"state", text_of(listed.state)}, {"bytes", 0},
              {"files", json::array()}, {"problems", json::array()},      {"resume", nullptr},
              {"blocks_checked", 0},    {"blocks_unchecked", 0}};
  for (const char* key : {"run_id", "sweep", "steps", "ranks", "layout", "schedule", "anchors",
                          "first_step", "newest_step"}) {
    run[key] = nullptr;
  }
  json master = nullptr;
  std::vector<json> journals;
  std::set<std::int64_t> ranks;
  std::map<std::int64_t, std::map<std::int64_t, json>> by_rank;  // steps of rank, segment
  std::int64_t bytes = 0, checked = 0, unchecked = 0;
  for (const store::ListedFile& file : listed.files) {
    const std::string path = listed.path + "/" + file.name;
    json report;
    if (file.name == "states.h5") {
      report = check_master(path);
      master = report;
      adopt(run, report, "run_id");
      adopt(run, report, "schedule");
      adopt(run, report, "steps_of_sweep", "steps");
    } else if (begins_with(file.name, "adjoint-")) {
      report = {{"problems", json::array()}};  // its sums are in the journal, of the bytes alone
    } else if (begins_with(file.name, "journal-")) {
      report = check_journal(listed.path, file.name, looked);
      adopt(run, report, "sweep");
      adopt(run, report, "ranks");
      adopt(run, report, "steps");
      if (report.contains("commits")) journals.push_back(report);
    } else {
      report = check_segment(path, kept, looked);
      compare_with_name(file.name, report);
      // A run that was resumed has a new id, and older files that keep theirs.
      if (kept || run["run_id"].is_null()) adopt(run, report, "run_id");
      adopt(run, report, "layout");
      adopt(run, report, "sweep");
      const auto of_file = report.value("ranks", std::vector<std::int64_t>{});
      ranks.insert(of_file.begin(), of_file.end());
      if (report.contains("steps") && !is_copy(file.name)) {
        for (const std::int64_t rank : of_file) {
          by_rank[rank][report.value("segment", std::int64_t{0})] = report["steps"];
        }
      }
    }
    bytes += file.bytes;
    checked += report.value("blocks_checked", std::int64_t{0});
    unchecked += report.value("blocks_unchecked", std::int64_t{0});
    run["files"].push_back(
        {{"name", file.name}, {"bytes", file.bytes}, {"problems", report["problems"]}});
  }
  if (!listed.lock.empty()) run["run_id"] = listed.lock;
  run["bytes"] = bytes;
  run["blocks_checked"] = checked;
  run["blocks_unchecked"] = unchecked;
  if (run["ranks"].is_null() && !ranks.empty()) run["ranks"] = ranks.size();
  if (kept && master.is_null()) {
    run["problems"].push_back("states.h5 is missing: these files were kept only in part");
  } else if (kept) {
    compare_with_master(run, master, by_rank);
  }
  run["resume"] = common_commit(journals);
  if (!run["resume"].is_null()) run["anchors"] = run["resume"]["anchors"];
  // Nothing can be said of one that is being written.
  const bool sound = run["problems"].empty() &&
                     std::all_of(run["files"].begin(), run["files"].end(),
                                 [](const json& file) { return file["problems"].empty(); });
  run["healthy"] = listed.state == RunState::kLive || sound;
  return run;
}

}  // namespace anadrome::tool

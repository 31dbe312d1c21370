#include "tool/runs/run_check.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "tool/runs/commit_check.h"
#include "tool/runs/journal_check.h"
#include "tool/runs/view_check.h"

namespace anadrome::tool {
namespace {

using nlohmann::json;
using store::RunState;

bool begins_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

const char* text_of(const store::ListedRun& run) {
  switch (run.state) {
    case RunState::kLive:
      return "live";
    case RunState::kDead:
      return "dead";
    case RunState::kKept:
      break;
  }
  return waits_to_go_on(run) ? "stopped" : "kept";
}

bool is_copy(const std::string& name) { return begins_with(name, "segment-copy"); }

json describe_lock(const store::LockRecord& lock) {
  return {{"host", lock.holder.host},
          {"process", lock.holder.pid},
          {"since", lock.since},
          {"heartbeat", lock.heartbeat},
          {"text", store::describe_holder(lock, calendar_seconds())}};
}

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

// Of a kept run: what its virtual datasets show. Of what is damaged itself enough is said.
void add_views(json& run) {
  std::vector<std::string> names;
  for (const json& file : run["files"]) names.push_back(file["name"]);
  const json wrong = check_views(run["path"], names);
  for (json& file : run["files"]) {
    const auto found = wrong.find(file["name"].get<std::string>());
    if (found != wrong.end() && file["problems"].empty()) file["problems"].push_back(*found);
  }
}

using Journals = std::vector<const CheckedJournal*>;

// The newest commit that all of these have.
json common_commit(const Journals& journals) {
  json newest = nullptr;
  if (journals.empty()) return newest;
  for (const json& commit : journals.front()->report["commits"]) {
    const bool everywhere =
        std::all_of(journals.begin(), journals.end(), [&](const CheckedJournal* journal) {
          const auto& commits = journal->contents->commits;
          return std::any_of(commits.begin(), commits.end(), [&](const auto& other) {
            return other.generation == commit["generation"];
          });
        });
    if (everywhere) newest = commit;
  }
  return newest;
}

bool is_of_one_run(const Journals& journals) {
  const store::JournalHeader& first = journals.front()->contents->header;
  return std::all_of(journals.begin(), journals.end(), [&](const CheckedJournal* journal) {
    const store::JournalHeader& header = journal->contents->header;
    return header.run_id_low == first.run_id_low && header.run_id_high == first.run_id_high;
  });
}

void add_problems(json& run, const CommitFindings& findings) {
  for (const std::string& what : findings.missing) run["problems"].push_back(what);
  for (json& file : run["files"]) {
    const auto name = file["name"].get<std::string>();
    const auto add = [&](const char* key, const auto& of_files) {
      const auto found = of_files.find(name);
      if (found == of_files.end()) return;
      for (const std::string& what : found->second) file[key].push_back(what);
    };
    add("problems", findings.problems);
    add("notes", findings.notes);
  }
}

// A run that can go on: from where, and whether what it needs for that is there.
void check_commits(json& run, const std::vector<CheckedJournal>& journals, Depth depth) {
  Journals with_commits;
  bool any_empty = false;
  for (const CheckedJournal& journal : journals) {
    if (journal.contents) with_commits.push_back(&journal);
    any_empty = any_empty || journal.is_empty;
  }
  if (with_commits.empty()) return;
  if (!is_of_one_run(with_commits)) {
    run["problems"].push_back("the journals are of different runs");
    return;
  }
  const store::JournalHeader& header = with_commits.front()->contents->header;
  const auto files = static_cast<std::int64_t>(journals.size());
  // On a node's own disk there are those of its ranks only.
  if (files < header.ranks && header.options.find("layout=shared\n") != std::string::npos) {
    run["problems"].push_back("there are journals of " + std::to_string(files) + " of " +
                              std::to_string(header.ranks) + " ranks only");
  }
  if (any_empty) return;  // no commit is whole on all ranks, and none is needed
  const json commit = common_commit(with_commits);
  if (commit.is_null()) return;
  if (static_cast<std::int64_t>(with_commits.size()) == header.ranks) run["resume"] = commit;
  run["anchors"] = commit["anchors"];
  if (commit["steps"] >= 0) run["steps"] = commit["steps"];
  if (run["state"] == "live") return;
  CommitFindings findings;
  for (const CheckedJournal* journal : with_commits) {
    const auto& commits = journal->contents->commits;
    const auto same = std::find_if(commits.begin(), commits.end(), [&](const auto& other) {
      return other.generation == commit["generation"];
    });
    const Failure failure = failure_from(
        [&] { check_commit(run["path"], *journal->contents, *same, depth, findings); });
    if (failure) findings.problems[journal->file].insert(failure.message);
  }
  run["blocks_checked"] = findings.blocks;
  run["adjoints_checked"] = findings.adjoints;
  add_problems(run, findings);
}

}  // namespace

bool waits_to_go_on(const store::ListedRun& run) {
  return run.state == RunState::kKept &&
         std::any_of(run.files.begin(), run.files.end(), [](const store::ListedFile& file) {
           return begins_with(file.name, "journal-");
         });
}

json check_run(const store::ListedRun& listed, Depth depth) {
  const bool kept = listed.state == RunState::kKept && !waits_to_go_on(listed);
  const Depth looked = listed.state == RunState::kLive ? Depth::kStructure : depth;
  json run = {{"path", listed.path},    {"state", text_of(listed)},  {"bytes", 0},
              {"files", json::array()}, {"problems", json::array()}, {"resume", nullptr},
              {"blocks_checked", 0},    {"blocks_unchecked", 0},     {"adjoints_checked", 0}};
  for (const char* key : {"run_id", "sweep", "steps", "ranks", "layout", "schedule", "anchors",
                          "first_step", "newest_step", "holder"}) {
    run[key] = nullptr;
  }
  json master = nullptr;
  std::vector<CheckedJournal> journals;
  std::set<std::int64_t> ranks;
  std::map<std::int64_t, std::map<std::int64_t, json>> by_rank;  // steps of rank, segment
  std::int64_t bytes = 0, checked = 0, unchecked = 0;
  for (const store::ListedFile& file : listed.files) {
    const std::string path = listed.path + "/" + file.name;
    json report = json::object();
    if (file.name == "states.h5") {
      report = check_master(path);
      master = report;
      adopt(run, report, "run_id");
      adopt(run, report, "schedule");
      adopt(run, report, "steps_of_sweep", "steps");
    } else if (begins_with(file.name, "journal-")) {
      CheckedJournal journal = check_journal(listed.path, file.name);
      report = journal.report;
      for (const char* key : {"sweep", "ranks", "steps"}) adopt(run, report, key);
      journals.push_back(std::move(journal));
    } else if (begins_with(file.name, "segment-")) {
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
    run["files"].push_back({{"name", file.name},
                            {"bytes", file.bytes},
                            {"problems", report.value("problems", json::array())},
                            {"notes", report.value("notes", json::array())}});
  }
  if (!listed.lock.run_id.empty()) run["run_id"] = listed.lock.run_id;
  if (listed.lock.holder.pid != 0) run["holder"] = describe_lock(listed.lock);
  run["bytes"] = bytes;
  run["blocks_checked"] = checked;
  run["blocks_unchecked"] = unchecked;
  if (run["ranks"].is_null() && !ranks.empty()) run["ranks"] = ranks.size();
  if (kept && master.is_null()) {
    run["problems"].push_back("states.h5 is missing: these files were kept only in part");
  } else if (kept) {
    compare_with_master(run, master, by_rank);
  }
  if (kept && !master.is_null() && looked == Depth::kBytes) add_views(run);
  check_commits(run, journals, looked);
  // Nothing can be said of one that is being written.
  const bool sound = run["problems"].empty() &&
                     std::all_of(run["files"].begin(), run["files"].end(),
                                 [](const json& file) { return file["problems"].empty(); });
  run["healthy"] = listed.state == RunState::kLive || sound;
  return run;
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/run_report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "engine/disk/activity.h"
#include "store/directory/heartbeat_file.h"
#include "tool/runs/commit_check.h"

namespace anadrome::tool {
namespace {

using store::JournalCommit;

bool is_copy(const std::string& name) { return name.starts_with("segment-copy"); }

HolderReport describe_lock(const store::LockRecord& lock) {
  return {lock.holder.host, lock.holder.pid, lock.since, lock.heartbeat,
          store::describe_holder(lock, calendar_seconds())};
}

// Names come from numbers: one file in place of another contradicts itself.
void compare_with_name(const std::string& name, SegmentReport& report) {
  if (!report.number || is_copy(name)) return;
  char start[40];
  std::snprintf(start, sizeof start, "segment-%05lld", static_cast<long long>(*report.number));
  if (name.starts_with(start)) return;
  report.problems.push_back("its header names " + std::string(start));
}

// Takes over a fact of the run from a file; two files must not contradict each other.
template <class Value>
void adopt(RunReport& run, std::optional<Value>& there, const std::optional<Value>& of_file,
           const char* what) {
  if (!of_file) return;
  if (!there) there = of_file;
  if (there != of_file) run.problems.push_back(std::string("files differ in ") + what);
}

using Steps = std::vector<std::int64_t>;

/// The reports on a run's files, beside the facts that the run's own takes over from them.
struct RunFiles {
  std::optional<MasterReport> master;
  bool of_a_store = false;
  std::vector<CheckedJournal> journals;
  std::set<std::int64_t> ranks;                                   ///< that have states
  std::map<std::int64_t, std::map<std::int64_t, Steps>> by_rank;  ///< steps of rank, segment
};

// All states of every rank of a kept run together are those that the master names.
void compare_with_master(RunReport& run, const RunFiles& files) {
  const Steps& expected = files.master->steps;
  for (const auto& [rank, segments] : files.by_rank) {
    Steps steps;
    for (const auto& [number, part] : segments) steps.insert(steps.end(), part.begin(), part.end());
    if (steps != expected) {
      run.problems.push_back(
          "the states of rank " + std::to_string(rank) + " are not those that states.h5 names: " +
          std::to_string(steps.size()) + " instead of " + std::to_string(expected.size()));
    }
  }
  run.anchors = std::ssize(expected);
  if (!expected.empty()) {
    // HDF5 shows zeros, without an error.
    if (files.by_rank.empty()) run.problems.emplace_back("no file with states is here");
    run.first_step = expected.front();
    run.newest_step = expected.back();
  }
}

// Reads the virtual datasets of a kept run. A file that is damaged itself needs no more words.
void add_views(RunReport& run) {
  std::vector<std::string> names;
  for (const FileReport& file : run.files) names.push_back(file.name);
  const auto wrong = check_views(run.path, names);
  for (FileReport& file : run.files) {
    const auto found = wrong.find(file.name);
    if (found != wrong.end() && file.problems.empty()) file.problems.push_back(found->second);
  }
}

using Journals = std::vector<const CheckedJournal*>;

const JournalCommit* commit_of(const CheckedJournal& journal, std::int64_t generation) {
  const auto& commits = journal.contents->commits;
  const auto found = std::find_if(
      commits.begin(), commits.end(),
      [generation](const JournalCommit& commit) { return commit.generation == generation; });
  return found == commits.end() ? nullptr : &*found;
}

// The newest commit that all of these have, as the first has it.
const JournalCommit* common_commit(const Journals& journals) {
  const JournalCommit* newest = nullptr;
  for (const JournalCommit& commit : journals.front()->contents->commits) {
    const bool everywhere =
        std::all_of(journals.begin(), journals.end(), [&](const CheckedJournal* journal) {
          return commit_of(*journal, commit.generation) != nullptr;
        });
    if (everywhere) newest = &commit;
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

void add_problems(RunReport& run, const CommitFindings& findings) {
  for (const std::string& what : findings.missing) run.problems.push_back(what);
  for (FileReport& file : run.files) {
    const auto add = [&](std::vector<std::string>& to, const auto& of_files) {
      const auto found = of_files.find(file.name);
      if (found == of_files.end()) return;
      to.insert(to.end(), found->second.begin(), found->second.end());
    };
    add(file.problems, findings.problems);
    add(file.notes, findings.notes);
  }
}

// A run that can go on: from where, and whether what it needs for that is there.
void check_commits(RunReport& run, const std::vector<CheckedJournal>& journals, Depth depth) {
  Journals with_commits;
  bool any_empty = false;
  for (const CheckedJournal& journal : journals) {
    if (journal.contents) with_commits.push_back(&journal);
    any_empty = any_empty || journal.is_empty;
  }
  if (with_commits.empty()) return;
  if (!is_of_one_run(with_commits)) {
    run.problems.emplace_back("the journals are of different runs");
    return;
  }
  const store::JournalHeader& header = with_commits.front()->contents->header;
  const auto files = std::ssize(journals);
  // On a node's own disk there are those of its ranks only.
  const bool shared = header.options.find("layout=shared\n") != std::string::npos;
  if (files < header.ranks && shared) {
    run.problems.push_back("there are journals of " + std::to_string(files) + " of " +
                           std::to_string(header.ranks) + " ranks only");
  }
  if (any_empty) return;  // no commit is whole on all ranks, and none is needed
  if (!shared) run.ranks_elsewhere = std::max<std::int64_t>(header.ranks - files, 0);
  const JournalCommit* commit = common_commit(with_commits);
  if (commit == nullptr) return;
  if (std::ssize(with_commits) == header.ranks) run.resume = *commit;
  run.anchors = commit->anchors;
  if (commit->steps >= 0) run.steps = commit->steps;
  if (run.condition == Condition::kLive) return;
  CommitFindings findings;
  for (const CheckedJournal* journal : with_commits) {
    const Failure failure = failure_from([&] {
      check_commit(run.path, *journal->contents, *commit_of(*journal, commit->generation), depth,
                   findings);
    });
    if (failure) findings.problems[journal->file].insert(failure.message);
  }
  run.blocks_checked = findings.blocks;
  run.blocks_elsewhere = findings.elsewhere;
  run.adjoints_checked = findings.adjoints;
  add_problems(run, findings);
}

void look_at_master(RunReport& run, FileReport& file, RunFiles& files) {
  MasterReport report = check_master(run.path + "/" + file.name);
  adopt(run, run.run_id, report.run_id, "run_id");
  adopt(run, run.schedule, report.schedule, "schedule");
  adopt(run, run.steps, report.steps_of_sweep, "steps");
  file.problems = report.problems;
  files.master = std::move(report);
}

void look_at_journal(RunReport& run, FileReport& file, RunFiles& files) {
  CheckedJournal journal = check_journal(run.path, file.name);
  if (journal.contents) {
    using Said = std::optional<std::int64_t>;
    const store::JournalHeader& header = journal.contents->header;
    adopt(run, run.sweep, Said(header.sweep), "sweep");
    adopt(run, run.ranks, Said(header.ranks), "ranks");
    if (header.steps >= 0) adopt(run, run.steps, Said(header.steps), "steps");
  }
  file.problems = journal.problems;
  file.notes = journal.notes;
  files.journals.push_back(std::move(journal));
}

void look_at_objects(RunReport& run, FileReport& file, RunFiles& files) {
  ObjectsReport report = check_objects(run.path + "/" + file.name);
  adopt(run, run.run_id, report.run_id, "run_id");
  files.ranks.insert(std::ssize(files.ranks));  // each has one
  files.of_a_store = true;
  if (report.problems.empty()) {
    file.notes.push_back("a store's " + std::to_string(report.objects) + " objects");
  }
  file.problems = std::move(report.problems);
}

void look_at_segment(RunReport& run, FileReport& file, RunFiles& files, Depth depth) {
  const bool kept = run.condition == Condition::kKept;
  SegmentReport report = check_segment(run.path + "/" + file.name, kept, depth);
  compare_with_name(file.name, report);
  // A run that was resumed has a new id, and older files that keep theirs.
  if (kept || !run.run_id) adopt(run, run.run_id, report.run_id, "run_id");
  adopt(run, run.layout, report.layout, "layout");
  adopt(run, run.sweep, report.sweep, "sweep");
  files.ranks.insert(report.ranks.begin(), report.ranks.end());
  if (report.steps && !is_copy(file.name)) {
    for (const std::int64_t rank : report.ranks) {
      files.by_rank[rank][report.number.value_or(0)] = *report.steps;
    }
  }
  run.blocks_checked += report.blocks_checked;
  run.blocks_unchecked += report.blocks_unchecked;
  file.problems = std::move(report.problems);
}

// Only a run with option `watchdog` leaves heartbeats.
void look_at_heartbeats(RunReport& run) {
  (void)failure_from([&] {
    const store::HeartbeatFile file(
        store::HeartbeatFile::place(store::Directory::open(run.path), run.run_id.value_or("")));
    const std::optional<store::Heartbeat> found = file.read(0);
    if (found) run.phase = engine::text_of_activity(found->activity);
  });
}

// The files NAME.RANK.adjoint.0 and 1 of PETSc's plugin, which lie beside the directory NAME.
void look_beside(RunReport& run) {
  const std::filesystem::path path = std::filesystem::absolute(run.path + "/").parent_path();
  const std::string stem = path.filename().string() + ".";
  std::set<std::string> ranks;
  (void)failure_from([&] {
    const store::Directory parent = store::Directory::open(path.parent_path().string());
    for (const std::string& name : parent.names()) {
      const std::size_t digits = std::min(name.find(".adjoint."), name.size());
      if (!name.starts_with(stem) || digits + 10 != name.size()) continue;
      const std::string rank = name.substr(stem.size(), digits - stem.size());
      if (rank.empty() || rank.find_first_not_of("0123456789") != std::string::npos) continue;
      ranks.insert(rank);
      if (const auto status = parent.status(name))
        run.petsc_changed = std::max(run.petsc_changed, status->changed);
    }
  });
  run.petsc_ranks = std::ssize(ranks);
}

}  // namespace

Condition condition_of(const ListedRun& run) {
  if (run.state == RunState::kLive) return Condition::kLive;
  if (run.state == RunState::kDead) return Condition::kDead;
  const bool journals = std::any_of(run.files.begin(), run.files.end(), [](const ListedFile& file) {
    return file.name.starts_with("journal-");
  });
  return journals ? Condition::kStopped : Condition::kKept;
}

RunReport check_run(const ListedRun& listed, Depth depth) {
  RunReport run;
  run.path = listed.path;
  run.condition = condition_of(listed);
  const bool live = run.condition == Condition::kLive;
  const Depth looked = live ? Depth::kStructure : depth;
  RunFiles files;
  for (const ListedFile& of_run : listed.files) {
    FileReport file;
    file.name = of_run.name;
    file.bytes = of_run.bytes;
    file.allocated = of_run.allocated;
    if (file.name == "states.h5") {
      look_at_master(run, file, files);
    } else if (file.name.starts_with("journal-")) {
      look_at_journal(run, file, files);
    } else if (file.name.starts_with("segment-")) {
      look_at_segment(run, file, files, looked);
    } else if (file.name.starts_with("objects-rank-")) {
      look_at_objects(run, file, files);
    }
    run.bytes += file.bytes;
    run.allocated += file.allocated;
    run.files.push_back(std::move(file));
  }
  if (!listed.lock.run_id.empty()) run.run_id = listed.lock.run_id;
  if (listed.lock.holder.pid != 0) run.holder = describe_lock(listed.lock);
  if (!run.ranks && !files.ranks.empty()) {
    run.ranks = std::ssize(files.ranks);
  }
  if (run.condition == Condition::kKept && !files.of_a_store) {
    if (!files.master) {
      run.problems.emplace_back("states.h5 is missing: these files were kept only in part");
    } else {
      compare_with_master(run, files);
      if (looked == Depth::kBytes) add_views(run);
    }
  }
  check_commits(run, files.journals, looked);
  if (live) look_at_heartbeats(run);
  look_beside(run);
  std::string foreign;
  (void)failure_from([&] { foreign = file_of_nobody(listed); });  // it may just have ended
  if (!foreign.empty())
    run.problems.push_back("nothing says that '" + foreign + "' is the run's: no run goes on here");
  // Nothing can be said of one that is being written.
  const bool sound = run.problems.empty() &&
                     std::all_of(run.files.begin(), run.files.end(),
                                 [](const FileReport& file) { return file.problems.empty(); });
  run.healthy = live || sound;
  return run;
}

}  // namespace anadrome::tool

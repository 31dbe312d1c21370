// SPDX-License-Identifier: BSD-2-Clause
// The report on a run and its files, taken together, for people and programs. An optional that is
// empty: nothing says it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "store/journal/journal_record.h"
#include "tool/runs/run_listing.h"
#include "tool/runs/segments/segment_check.h"

namespace anadrome::tool {

struct FileReport {
  std::string name;
  std::int64_t bytes = 0, allocated = 0;  ///< as of a run
  std::vector<std::string> problems;
  std::vector<std::string> notes;  ///< not wrong, but worth knowing
};

struct HolderReport {
  std::string host;
  std::int64_t process = 0;
  std::int64_t since = 0, heartbeat = 0;  ///< seconds since 1970
  std::string text;                       ///< all of it in a sentence
};

enum class Condition {
  kLive,
  kDead,
  kKept,
  kStopped  ///< closed, or ended with an error, after a commit: it can go on
};
/// "live", ...
const char* name_of(Condition condition);

struct RunReport {
  std::string path;
  Condition condition = Condition::kKept;
  std::optional<std::string> run_id, layout, schedule;
  std::optional<std::int64_t> sweep, steps, ranks;
  std::optional<std::int64_t> anchors, first_step, newest_step;  ///< of the states on disk
  std::optional<HolderReport> holder;
  std::optional<std::string> phase;  ///< what rank 0 of a live run with `watchdog` is at
  std::int64_t petsc_ranks = 0;      ///< with commits of TSAdjointSolve beside the directory
  std::int64_t petsc_changed = 0;    ///< the newest of them, in seconds since 1970
  std::optional<store::JournalCommit> resume;  ///< where it can go on
  std::int64_t ranks_elsewhere = 0;            ///< with journals on other nodes' disks
  std::int64_t bytes = 0;                      ///< of all files
  std::int64_t allocated = 0;                  ///< of these on disk: their holes have none
  std::int64_t blocks_checked = 0, blocks_unchecked = 0, adjoints_checked = 0;
  std::int64_t blocks_elsewhere = 0;  ///< in the run's fast directory, which nobody looked at
  std::vector<FileReport> files;
  std::vector<std::string> problems;  ///< of no file alone
  bool healthy = false;
};

nlohmann::json to_json(const RunReport& run);

/// For people. `verified`: the states were read, too.
std::string describe_run(const RunReport& run, bool verified);

Condition condition_of(const ListedRun& run);

/// A live run's states are not looked at: they change.
RunReport check_run(const ListedRun& run, Depth depth);

}  // namespace anadrome::tool

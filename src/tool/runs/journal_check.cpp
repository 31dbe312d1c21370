#include "tool/runs/journal_check.h"

#include <sys/stat.h>

#include <cstdio>

#include "store/journal.h"
#include "tool/runs/journal_tail.h"

namespace anadrome::tool {
namespace {

using nlohmann::json;
using store::JournalCommit;

bool has_no_bytes(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

json describe(const store::JournalContents& journal) {
  const store::JournalHeader& header = journal.header;
  char run[40];
  std::snprintf(run, sizeof run, "%016llx%016llx",
                static_cast<unsigned long long>(header.run_id_high),
                static_cast<unsigned long long>(header.run_id_low));
  json report = {{"run", run},
                 {"rank", header.rank},
                 {"ranks", header.ranks},
                 {"sweep", header.sweep},
                 {"blocks", journal.blocks.size()},
                 {"commits", json::array()}};
  if (header.steps >= 0) report["steps"] = header.steps;
  for (const JournalCommit& commit : journal.commits) {
    report["commits"].push_back(
        {{"generation", commit.generation},
         {"phase", commit.phase == JournalCommit::Phase::kForward ? "forward" : "reverse"},
         {"position", commit.position},
         {"steps", commit.steps},
         {"anchors", commit.anchors}});
  }
  return report;
}

}  // namespace

CheckedJournal check_journal(const std::string& directory, const std::string& file) {
  const std::string path = directory + "/" + file;
  CheckedJournal checked;
  checked.file = file;
  json problems = json::array(), notes = json::array();
  try {
    checked.is_empty = has_no_bytes(path);
    if (!checked.is_empty) {
      checked.contents = store::read_journal(path);
      checked.report = describe(*checked.contents);
      if (const std::int64_t rank = checked.contents->header.rank;
          store::journal_file_name(rank) != file) {
        problems.push_back("it says that it is rank " + std::to_string(rank) + "'s");
      }
      const std::int64_t good = checked.contents->good_bytes;
      const std::string where = "byte " + std::to_string(good);
      switch (tail_of(path, good)) {
        case Tail::kNothing:
          break;
        case Tail::kUnfinished:
          notes.push_back("from " + where +
                          " on there is no whole commit: one was under way, or it is damaged");
          break;
        case Tail::kDamage:
          problems.push_back("from " + where +
                             " on it is not what was written; later commits are lost");
      }
    }
  } catch (const std::exception& error) {
    problems.push_back(error.what());
  }
  checked.report["problems"] = std::move(problems);
  checked.report["notes"] = std::move(notes);
  return checked;
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/journal_check.h"

#include <sys/stat.h>

#include "store/journal/journal.h"
#include "tool/runs/journal_tail.h"

namespace anadrome::tool {
namespace {

bool has_no_bytes(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

}  // namespace

CheckedJournal check_journal(const std::string& directory, const std::string& file) {
  const std::string path = directory + "/" + file;
  CheckedJournal checked;
  checked.file = file;
  try {
    checked.is_empty = has_no_bytes(path);
    if (!checked.is_empty) {
      checked.contents = store::read_journal(path);
      if (const std::int64_t rank = checked.contents->header.rank;
          store::journal_file_name(rank) != file) {
        checked.problems.push_back("its header names rank " + std::to_string(rank) + "'s");
      }
      const std::int64_t good = checked.contents->good_bytes;
      const std::string where = "byte " + std::to_string(good);
      switch (tail_of(path, good)) {
        case Tail::kNothing:
          break;
        case Tail::kUnfinished:
          checked.notes.push_back(
              "from " + where +
              " on there is no whole commit: one was under way, or it is damaged");
          break;
        case Tail::kDamage:
          checked.problems.push_back("from " + where +
                                     " on it is not what was written; later commits are lost");
      }
    }
  } catch (const std::exception& error) {
    checked.problems.emplace_back(error.what());
  }
  return checked;
}

}  // namespace anadrome::tool

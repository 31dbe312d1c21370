// SPDX-License-Identifier: BSD-2-Clause
// Whether what a rank needs to go on from a commit is what was written: its journal, blocks, the
// second copy of the first one, adjoint fields.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/journal/journal_reader.h"
#include "tool/runs/segments/segment_check.h"

namespace anadrome::tool {

struct CheckedJournal {
  std::string file;
  std::vector<std::string> problems, notes;
  bool is_empty = false;                           ///< as it is until the rank's first commit
  std::optional<store::JournalContents> contents;  ///< if it can be read and is not empty
};

CheckedJournal check_journal(const std::string& directory, const std::string& file);

struct CommitFindings {
  std::int64_t blocks = 0, adjoints = 0;                         ///< compared with their sums
  std::int64_t elsewhere = 0;                                    ///< blocks in a fast directory
  std::map<std::string, std::set<std::string>> problems, notes;  ///< by name of the file
  std::set<std::string> missing;                                 ///< files, in a sentence each
};

/// `commit`: the newest that all ranks have. Blocks beyond its anchors, and adjoint fields of other
/// commits, may be written over at any time: they are not looked at. With kStructure only the
/// lengths of the files are. `directory` and `journal` belong together.
void check_commit(const std::string& directory, const store::JournalContents& journal,
                  const store::JournalCommit& commit, Depth depth, CommitFindings& findings);

}  // namespace anadrome::tool

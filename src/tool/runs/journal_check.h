// SPDX-License-Identifier: BSD-2-Clause
// The report on a rank's journal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/journal/journal_reader.h"

namespace anadrome::tool {

struct CheckedJournal {
  std::string file;
  std::vector<std::string> problems, notes;
  bool is_empty = false;                           ///< as it is until the rank's first commit
  std::optional<store::JournalContents> contents;  ///< if it can be read and is not empty
};

CheckedJournal check_journal(const std::string& directory, const std::string& file);

}  // namespace anadrome::tool

// What a rank's journal says.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "store/journal_reader.h"

namespace anadrome::tool {

struct CheckedJournal {
  std::string file;
  /// {"rank", "ranks", "sweep", "steps", "run", "blocks", "commits": [{"generation", "phase",
  /// "position", "steps", "anchors"}..], "problems": [..], "notes": [..]}; of a file that cannot be
  /// read, or is empty, only the last two.
  nlohmann::json report;
  bool is_empty = false;                           ///< as it is until the rank's first commit
  std::optional<store::JournalContents> contents;  ///< if it can be read and is not empty
};

CheckedJournal check_journal(const std::string& directory, const std::string& file);

}  // namespace anadrome::tool

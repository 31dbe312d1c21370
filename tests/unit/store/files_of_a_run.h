// SPDX-License-Identifier: BSD-2-Clause
// Files that say that a run made them, as small as they can be.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>

#include "store/directory/lock_record.h"
#include "store/directory/run_files.h"
#include "store/files/format.h"
#include "store/journal/journal_record.h"

namespace anadrome::store {

/// `name` is a name that runs use; the lock is that of a dead process of the run `run_id`.
inline void put_file_of_run(const std::string& directory, const std::string& name,
                            const std::string& run_id) {
  const std::string path = directory + "/" + name;
  file_system().unlink(path);
  const File file = File::open(path, O_RDWR | O_CREAT);
  const auto put = [&](const std::string& text) { file.write_all(text.data(), text.size(), 0); };
  switch (kind_of(name)) {
    case FileKind::kLock: {
      LockRecord record = new_lock_record(run_id);
      --record.holder.start;  // its number was given to another
      return write_lock(file, record);
    }
    case FileKind::kJournal:
      return put(journal_preamble());
    case FileKind::kAdjoint:
      return put("numbers");
    case FileKind::kStates:
      return put(std::string("\x89HDF\r\n\x1a\n ") + kFormatAttribute);
    case FileKind::kHeartbeats:
    case FileKind::kNone:
      FAIL() << name;
  }
}

}  // namespace anadrome::store

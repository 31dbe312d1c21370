// SPDX-License-Identifier: BSD-2-Clause
// A journal being written. It is appended to, and a commit that was synced is there after any
// crash; what a crash leaves behind the last whole record is no record, since each one is chained
// to all before it. One thread at a time uses it; no HDF5 and no MPI.
#pragma once

#include <cstdint>
#include <string>

#include "store/files/directory.h"
#include "store/journal/journal_record.h"

namespace anadrome::store {

/// The name of a rank's journal in the run's directory.
std::string journal_file_name(std::int64_t rank);

class Journal {
 public:
  Journal() = default;
  /// Make the file, 0600; it must not exist. The first commit writes the header. For the file to be
  /// found after a power loss its directory is synced too.
  static Journal create(const FilePlace& place, const JournalHeader& header);
  /// Go on behind the `good_bytes` that read_journal found, whose last record has the sum `last`;
  /// the bytes behind them are cut off. Throws ERR_CORRUPT if the good ones are gone.
  static Journal reopen(const FilePlace& place, std::int64_t good_bytes, const Checksum& last);

  /// Into memory, until the next commit. Throws ERR_ARGUMENT for a record that no reader would
  /// accept; nothing is added then.
  void add(const JournalRecord& record);
  /// Write what was added, in one piece, and sync. Throws ERR_IO or ERR_NO_SPACE; then the next
  /// commit writes all of it once more.
  void commit();

 private:
  File file_;
  Checksum chain_;  ///< the sum of the newest record
  // A failed sync leaves open what reached the disk, and says so only once: so everything since the
  // last sync that went well is kept, and written again.
  std::string unsynced_;
  std::int64_t synced_ = 0;  ///< bytes; behind them unsynced_ is written
};

}  // namespace anadrome::store

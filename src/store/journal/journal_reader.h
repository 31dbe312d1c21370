// SPDX-License-Identifier: BSD-2-Clause
// A journal being read. The file is untrusted: whatever its bytes are, what comes out was written
// by a Journal, from the beginning and without a gap.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "store/files/directory.h"
#include "store/journal/journal_record.h"

namespace anadrome::store {

struct JournalContents {
  JournalHeader header;
  std::vector<JournalSegment> segments;         ///< in their order
  std::map<std::int64_t, JournalBlock> blocks;  ///< by number, without those that are void
  std::vector<JournalCommit> commits;           ///< the newest last; kMostCommits at most
  std::int64_t good_bytes = 0;                  ///< up to here the file is whole
  Checksum last;                                ///< the sum of the last good record
  /// False: a record that was not finished, or damage, follows the good bytes.
  bool complete = true;

  static constexpr std::size_t kMostCommits = 8;
  std::vector<JournalSegment> segments_on(std::int64_t volume) const;
  /// Its files are gone, and with them what blocks had there from number `first` on. Of block 0
  /// there may be a copy.
  void forget_volume(std::int64_t volume, std::int64_t first = 0);
};

/// Throws ERR_CORRUPT, naming file and byte, only where there is no valid header; ERR_UNSUPPORTED
/// for another version of the format; ERR_IO. Memory stays in proportion to the file's bytes.
JournalContents read_journal(const FilePlace& place);

/// The same; nothing if there is no such file. The caches of a network file system may show a name,
/// and the first bytes of its file, for a while after another host has removed it: then it is
/// looked for again, for up to 10 s.
std::optional<JournalContents> find_journal(const FilePlace& place);

/// The same without a file: `read` puts the bytes from `offset` on and returns their number, fewer
/// than asked for only at the end. `name` is for messages.
using ReadBytes = std::function<std::size_t(char* to, std::size_t count, std::int64_t offset)>;
JournalContents read_journal(const ReadBytes& read, const std::string& name);

}  // namespace anadrome::store

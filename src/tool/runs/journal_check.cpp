// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/journal_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string_view>

#include "base/index.h"
#include "store/files/file_system.h"
#include "store/journal/journal.h"
#include "store/journal/journal_record.h"
#include "store/moving/byte_code.h"

namespace anadrome::tool {
namespace {

using store::Decoder;

// Looked at, and summed: files that were made to take long do not.
constexpr std::size_t kMostBytes = std::size_t{16} << 20, kMostSummed = std::size_t{1} << 30;

std::string bytes_from(const std::string& path, std::int64_t offset) {
  const store::File file = store::File::open(path, O_RDONLY);
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::string bytes;
  for (std::size_t have = 0; have < kMostBytes;) {
    bytes.resize(have + kPiece);
    const ssize_t got = store::file_system().read(file.get(), bytes.data() + have, kPiece,
                                                  offset + static_cast<std::int64_t>(have));
    if (got == -EINTR) continue;
    if (got < 0) store::throw_errno(static_cast<int>(got), "read", path);
    have += size(got);
    bytes.resize(have);
    if (got == 0) break;
  }
  return bytes;
}

struct RecordExtent {
  std::uint32_t type = 0;
  std::size_t end = 0;  ///< 0: it does not end in these bytes
};

RecordExtent extent_at(std::string_view bytes, std::size_t at) {
  Decoder head(bytes.substr(at));
  const std::size_t length = head.u32();
  const std::uint32_t type = head.u32();
  const std::size_t end = at + store::kRecordHeadBytes + length + store::kRecordSumBytes;
  return head.good() && length <= store::kMostPayloadBytes && end <= bytes.size()
             ? RecordExtent{type, end}
             : RecordExtent{};
}

// Is there a record with a right sum, chained to the sum that lies before it?
bool is_record(std::string_view bytes, std::size_t at, std::size_t& summed) {
  const RecordExtent extent = extent_at(bytes, at);
  if (extent.end == 0 || !store::is_record_type(extent.type) || summed > kMostSummed) return false;
  summed += extent.end - at;
  const std::size_t sum_at = extent.end - store::kRecordSumBytes;
  const Checksum before = Decoder(bytes.substr(at - store::kRecordSumBytes)).sum();
  return store::record_sum(before, bytes.substr(at, sum_at - at)) ==
         Decoder(bytes.substr(sum_at)).sum();
}

// Do the lengths of the records from `at` on lead to `end`, past one that is synced?
bool passes_a_synced_one(std::string_view bytes, std::size_t at, std::size_t end) {
  bool synced = false;
  while (at < end) {
    const RecordExtent extent = extent_at(bytes, at);
    if (extent.end == 0) return false;
    synced = synced || store::is_synced_type(extent.type);
    at = extent.end;
  }
  return at == end && synced;
}

// The bytes after the last whole record: none, a commit that was under way when the run ended, or
// records that were synced once and have changed since. A change in the newest commit cannot be
// told from what a crash leaves; behind a record something is written only once it was synced.
void check_tail(const std::string& path, CheckedJournal& checked) {
  const std::int64_t good = checked.contents->good_bytes;
  const std::string where = "from byte " + std::to_string(good) + " on ";
  constexpr std::size_t kFirst = store::kRecordSumBytes;  // the sum of the last whole record
  const std::string bytes = bytes_from(path, good - static_cast<std::int64_t>(kFirst));
  if (bytes.size() <= kFirst) return;
  std::size_t at = kFirst, summed = 0;
  while (at < bytes.size() && !is_record(bytes, at, summed)) ++at;
  bool synced = passes_a_synced_one(bytes, kFirst, at);
  while (at < bytes.size() && is_record(bytes, at, summed)) {
    if (synced) {
      checked.problems.push_back(where + "it is not what was written; later commits are lost");
      return;
    }
    const RecordExtent extent = extent_at(bytes, at);
    synced = store::is_synced_type(extent.type);
    at = extent.end;
  }
  checked.notes.push_back(where + "there is no whole commit: one was under way, or it is damaged");
}

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
    if (checked.is_empty) return checked;
    checked.contents = store::read_journal(path);
    if (const std::int64_t rank = checked.contents->header.rank;
        store::journal_file_name(rank) != file) {
      checked.problems.push_back("its header names rank " + std::to_string(rank) + "'s");
    }
    check_tail(path, checked);
  } catch (const std::exception& error) {
    checked.problems.emplace_back(error.what());
  }
  return checked;
}

}  // namespace anadrome::tool

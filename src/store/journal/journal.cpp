// SPDX-License-Identifier: BSD-2-Clause
#include "store/journal/journal.h"

#include <fcntl.h>

#include <algorithm>

#include "base/error.h"
#include "store/moving/byte_code.h"

namespace anadrome::store {

std::string journal_file_name(std::int64_t rank) {
  constexpr std::size_t kDigits = 6;
  const std::string number = std::to_string(rank);
  return "journal-" + std::string(kDigits - std::min(kDigits, number.size()), '0') + number;
}

Journal Journal::create(const FilePlace& place, const JournalHeader& header) {
  Journal journal;
  journal.unsynced_ = journal_preamble();
  journal.chain_ = journal_preamble_sum();
  journal.add(header);
  journal.file_ = place.open(O_RDWR | O_CREAT | O_EXCL);
  return journal;
}

Journal Journal::reopen(const FilePlace& place, std::int64_t good_bytes, const Checksum& last) {
  Journal journal;
  journal.file_ = place.open(O_RDWR);
  std::string end(kRecordSumBytes, '\0');
  const auto sum_at = good_bytes - std::ssize(end);
  bool same = sum_at >= static_cast<std::int64_t>(kJournalPreambleBytes);
  if (same) {
    journal.file_.read_all(end.data(), end.size(), sum_at);
    same = Decoder(end).sum() == last;
  }
  if (!same) {
    throw Error(ANADROME_ERR_CORRUPT,
                place.path() + " has changed since it was read: no record ends at byte " +
                    std::to_string(good_bytes));
  }
  const int cut = file_system().truncate(journal.file_.get(), good_bytes);
  if (cut < 0) throw_errno(cut, "cut off the torn end of", place.path());
  journal.chain_ = last;
  journal.synced_ = good_bytes;
  return journal;
}

void Journal::add(const JournalRecord& record) {
  Checksum chain = chain_;
  unsynced_ += encode_record(record, chain);
  chain_ = chain;  // last: a failure above adds nothing
}

// A write that failed part of the way is written over by the next, which begins where it began and
// is no shorter.
void Journal::commit() {
  file_.write_all(unsynced_.data(), unsynced_.size(), synced_);
  file_.sync();
  synced_ += std::ssize(unsynced_);
  unsynced_.clear();
}

}  // namespace anadrome::store

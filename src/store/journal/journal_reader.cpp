// SPDX-License-Identifier: BSD-2-Clause
#include "store/journal/journal_reader.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/index.h"
#include "store/files/file_system.h"
#include "store/moving/byte_code.h"

namespace anadrome::store {
namespace {

// The file from front to back. No more is asked for than one piece beyond what was there, so that a
// length which is wrong costs no memory.
class Window {
 public:
  explicit Window(const ReadBytes& read) : read_(read) {}

  /// The next `count` bytes; fewer at the end of the file.
  std::string_view peek(std::size_t count) {
    while (bytes_.size() - first_ < count && !ended_) {
      bytes_.erase(0, first_);
      first_ = 0;
      const std::size_t before = bytes_.size();
      bytes_.resize(before + kPiece);
      const std::size_t got =
          read_(bytes_.data() + before, kPiece, offset_ + static_cast<std::int64_t>(before));
      bytes_.resize(before + got);
      ended_ = got < kPiece;
    }
    return std::string_view(bytes_).substr(first_, count);
  }
  void skip(std::size_t count) {
    first_ += count;
    offset_ += static_cast<std::int64_t>(count);
  }
  std::int64_t offset() const { return offset_; }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 16;
  const ReadBytes& read_;
  std::string bytes_;
  std::size_t first_ = 0;    ///< the first of bytes_ that is not skipped yet
  std::int64_t offset_ = 0;  ///< that byte's offset in the file
  bool ended_ = false;
};

// The next record, if it is whole and valid; `chain` becomes its sum then.
std::optional<JournalRecord> next_record(Window& window, Checksum& chain) {
  Decoder head(window.peek(kRecordHeadBytes));
  const std::size_t length = head.u32();
  const std::uint32_t type = head.u32();
  if (!head.good() || length > kMostPayloadBytes) return std::nullopt;
  const std::size_t covered = kRecordHeadBytes + length;
  const std::string_view whole = window.peek(covered + kRecordSumBytes);
  if (whole.size() < covered + kRecordSumBytes) return std::nullopt;
  const Checksum sum = record_sum(chain, whole.substr(0, covered));
  if (Decoder(whole.substr(covered)).sum() != sum) return std::nullopt;
  auto record = decode_record(type, whole.substr(kRecordHeadBytes, length));
  if (!record) return std::nullopt;
  window.skip(whole.size());
  chain = sum;
  return record;
}

// Returns the version.
std::uint32_t check_preamble(Window& window, const std::string& name) {
  const std::string_view found = window.peek(kJournalPreambleBytes);
  for (std::uint32_t version = 1; version <= kJournalVersion; ++version) {
    if (found != journal_preamble(version)) continue;
    window.skip(found.size());
    return version;
  }
  const std::string expected = journal_preamble();
  // Magic, version and sum mean the same in every version, so that another one can be named.
  constexpr std::size_t kVersionAt = 8, kSumAt = 16;
  if (found.size() == kJournalPreambleBytes &&
      found.substr(0, kVersionAt) == std::string_view(expected).substr(0, kVersionAt)) {
    ChecksumStream stream;
    stream.add(found.data(), kSumAt);
    if (Decoder(found.substr(kSumAt)).sum() == stream.finish()) {
      throw Error(ANADROME_ERR_UNSUPPORTED,
                  name + " is a journal of format " +
                      std::to_string(Decoder(found.substr(kVersionAt)).u32()) +
                      "; this version of the library reads formats 1 to " +
                      std::to_string(kJournalVersion));
    }
  }
  const auto differs = std::mismatch(found.begin(), found.end(), expected.begin()).first;
  throw Error(ANADROME_ERR_CORRUPT, name + " is no journal: byte " +
                                        std::to_string(differs - found.begin()) + " is " +
                                        (differs == found.end() ? "missing" : "wrong"));
}

// Applies the records after the header to the contents; false for a second header.
struct Apply {
  JournalContents& contents;
  bool operator()(const JournalHeader&) const { return false; }
  // One that is made again: a process that went on did not know it, nor those after it.
  bool operator()(JournalSegment& segment) const {
    std::vector<JournalSegment>& segments = contents.segments;
    const auto same = [&](const JournalSegment& known) {
      return known.volume == segment.volume && known.file == segment.file;
    };
    const auto again = std::find_if(segments.begin(), segments.end(), same);
    segments.erase(
        std::remove_if(again, segments.end(),
                       [&](const JournalSegment& known) { return known.volume == segment.volume; }),
        segments.end());
    segments.push_back(std::move(segment));
    return true;
  }
  bool operator()(const JournalBlock& block) const {
    contents.blocks[block.block] = block;
    return true;
  }
  bool operator()(const JournalTruncate& truncate) const {
    if (truncate.volume) {
      contents.forget_volume(*truncate.volume, truncate.blocks);
      return true;
    }
    contents.blocks.erase(contents.blocks.lower_bound(truncate.blocks), contents.blocks.end());
    return true;
  }
  bool operator()(JournalCommit& commit) const {
    if (contents.commits.size() == JournalContents::kMostCommits) {
      contents.commits.erase(contents.commits.begin());
    }
    contents.commits.push_back(std::move(commit));
    return true;
  }
};

}  // namespace

std::vector<JournalSegment> JournalContents::segments_on(std::int64_t volume) const {
  std::vector<JournalSegment> there;
  std::copy_if(segments.begin(), segments.end(), std::back_inserter(there),
               [&](const JournalSegment& segment) { return segment.volume == volume; });
  return there;
}

void JournalContents::forget_volume(std::int64_t volume, std::int64_t first) {
  std::erase_if(segments, [&](const JournalSegment& segment) { return segment.volume == volume; });
  for (auto block = blocks.lower_bound(first); block != blocks.end(); ++block) {
    std::optional<JournalBlock::Place>& place = block->second.place;
    if (place && place->volume == volume) place->place = JournalBlock::kGone;
  }
}

JournalContents read_journal(const ReadBytes& read, const std::string& name) {
  Window window(read);
  JournalContents contents;
  contents.last = journal_preamble_sum(check_preamble(window, name));
  std::optional<JournalRecord> record = next_record(window, contents.last);
  if (!record || !std::holds_alternative<JournalHeader>(*record)) {
    throw Error(ANADROME_ERR_CORRUPT,
                name + " has no valid header at byte " + std::to_string(kJournalPreambleBytes));
  }
  contents.header = std::get<JournalHeader>(std::move(*record));
  for (;;) {
    contents.good_bytes = window.offset();
    Checksum chain = contents.last;
    record = next_record(window, chain);
    if (!record || !std::visit(Apply{contents}, *record)) break;
    contents.last = chain;
  }
  contents.complete = !record && window.peek(1).empty();
  return contents;
}

namespace {

constexpr int kToRead = O_RDONLY | O_NONBLOCK;  // a pipe of that name must not make this wait

bool is_gone(ssize_t result) { return result == -ENOENT || result == -ESTALE; }

// `gone`: reading failed because there is no such file.
JournalContents read_file(const FilePlace& place, bool& gone) {
  const File file = place.open(kToRead);
  const ReadBytes read = [&](char* to, std::size_t count, std::int64_t offset) {
    std::size_t done = 0;
    while (done < count) {
      const ssize_t got = file_system().read(file.get(), to + done, count - done,
                                             offset + static_cast<std::int64_t>(done));
      if (got == -EINTR) continue;
      gone = is_gone(got);
      if (got < 0) throw_errno(static_cast<int>(got), "read", file.path());
      if (got == 0) break;
      done += size(got);
    }
    return done;
  };
  return read_journal(read, file.path());
}

}  // namespace

JournalContents read_journal(const FilePlace& place) {
  bool gone = false;
  return read_file(place, gone);
}

std::optional<JournalContents> find_journal(const FilePlace& place) {
  constexpr double kPatience = 10;
  constexpr auto kPause = std::chrono::milliseconds(50);
  const double until = now_seconds() + kPatience;
  for (;; std::this_thread::sleep_for(kPause)) {
    if (place.lacks()) return std::nullopt;
    const int opened = place.try_open(kToRead | O_NOFOLLOW | O_CLOEXEC);
    if (opened >= 0) file_system().close(opened);
    bool gone = is_gone(opened);
    try {
      if (!gone || now_seconds() >= until) return read_file(place, gone);
    } catch (const Error&) {
      gone = gone || place.lacks();
      if (!gone || now_seconds() >= until) throw;
    }
  }
}

}  // namespace anadrome::store

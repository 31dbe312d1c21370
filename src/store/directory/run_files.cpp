// SPDX-License-Identifier: BSD-2-Clause
#include "store/directory/run_files.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "store/directory/heartbeat_file.h"
#include "store/files/file_system.h"
#include "store/files/format.h"
#include "store/journal/journal_record.h"

namespace anadrome::store {
namespace {

constexpr std::string_view kAdjointStem = "adjoint-", kJournalStem = "journal-";
constexpr std::string_view kHdf5 = "\x89HDF";
constexpr std::size_t kRankDigits = 6, kPageBytes = 4096, kMarkedBytes = std::size_t{1} << 18;

std::int64_t number_behind(std::string_view stem, std::string_view name) {
  name.remove_prefix(stem.size());
  std::int64_t number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

bool take_digits(std::string_view& text, std::size_t at_least) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(end);
  return end >= at_least;
}

// segment-00000.h5, segment-copy-rank-000003.h5; a user's segment-left.h5 is none.
bool is_segment(std::string_view name) {
  if (!take(name, "segment-") || !(take(name, "copy") || take_digits(name, 5))) return false;
  const bool of_some = take(name, "-node-") || take(name, "-rank-");
  return (!of_some || take_digits(name, kRankDigits)) && name == ".h5";
}

// HDF5 keeps the names in a file near its start. Some may be in damaged sectors.
bool holds_states(std::string_view head) {
  int marks = head.starts_with(kHdf5) ? 1 : 0;
  for (const std::string_view mark :
       {kFormatAttribute, "states_per_block", "slot_step", "slots_used"})
    marks += head.find(mark) != std::string_view::npos ? 1 : 0;
  return marks >= 2;
}

bool begins_as_a_runs(FileKind kind, std::string_view head) {
  constexpr std::size_t kMagicBytes = 8;
  switch (kind) {
    case FileKind::kLock:
      return looks_like_a_lock(head);
    case FileKind::kJournal:
      return head.starts_with(journal_preamble(kJournalVersion).substr(0, kMagicBytes));
    case FileKind::kHeartbeats:
      return HeartbeatFile::is_one(head);
    case FileKind::kStates:
      return holds_states(head);
    case FileKind::kNone:
    case FileKind::kAdjoint:
      break;
  }
  return false;
}

// Nothing was written to a file that begins so, or it did not last: the first page is written
// last (see ScratchFile::publish), or is torn. Numbers of anybody's may begin with zeros.
bool is_blank(FileKind kind, std::string_view head, std::size_t bytes) {
  constexpr std::size_t kSector = 512;
  if (kind == FileKind::kLock && is_damaged_lock(head)) return true;
  const std::string_view page = head.substr(0, kPageBytes);
  if (kind == FileKind::kStates && page.starts_with(kHdf5) && bytes > kPageBytes)
    return page.find_first_not_of('\0', kSector) == std::string_view::npos;
  const std::size_t zeros = kind == FileKind::kAdjoint ? kMarkedBytes : kSector;
  return head.find_first_not_of('\0') >= std::min(zeros, bytes) &&
         head.find(kHdf5) == std::string_view::npos;
}

}  // namespace

FileKind kind_of(std::string_view name) {
  const auto is_of_rank = [&](std::string_view stem, std::string_view end = "") {
    std::string_view rest = name;
    return take(rest, stem) && take_digits(rest, kRankDigits) && rest == end;
  };
  std::string_view id = name;
  if (name == kLockName) return FileKind::kLock;
  if (is_of_rank(kJournalStem)) return FileKind::kJournal;
  if (is_of_rank(kAdjointStem)) return FileKind::kAdjoint;
  if (take(id, kHeartbeatStem) && !id.empty() &&
      id.find_first_not_of("0123456789abcdef") == std::string_view::npos) {
    return FileKind::kHeartbeats;
  }
  const bool states = name == "states.h5" || is_segment(name) || is_of_rank("objects-rank-", ".h5");
  return states ? FileKind::kStates : FileKind::kNone;
}

std::vector<std::string> files_in(const Directory& directory) {
  std::vector<std::string> names = directory.names();
  std::partition(names.begin(), names.end(), is_journal);
  return names;
}

RunFiles::RunFiles(Directory directory, const std::optional<LockRecord>& own)
    : directory_(std::move(directory)), was_here_(own.has_value()) {
  for (const std::string& name : files_in(directory_)) {
    if (directory_.lacks(name)) continue;  // just removed
    files_.push_back({name, kind_of(name), look_at(directory_, name, unreadable_)});
    was_here_ = was_here_ || files_.back().says == Says::kRuns;
  }
  const Seen* const lock = find(kLockName);
  if (own) lock_ = *own;
  if (own || lock == nullptr || lock->says != Says::kRuns) return;
  failure_from([&] { lock_ = read_lock(directory_.open_file(kLockName, O_RDONLY)); });
}

// Most files say it in their first page.
RunFiles::Says RunFiles::look_at(const Directory& directory, const std::string& name,
                                 Failure& unreadable) {
  const FileKind kind = kind_of(name);
  const std::optional<FileStatus> status = directory.status(name);
  if (kind == FileKind::kNone || !status || !status->regular || status->owner != directory.owner())
    return Says::kUnusable;
  const auto bytes = size(status->bytes);
  // If it cannot be read. A run gives its files one name, and lets their owner read them.
  Says says = status->names == 1 && status->may_be_read ? Says::kNothing : Says::kOther;
  const Failure failure = failure_from([&] {
    const File file = directory.open_file(name, O_RDONLY);
    for (const std::size_t most : {kPageBytes, kMarkedBytes}) {
      if (says == Says::kRuns) return;
      std::string head(std::min(most, bytes), '\0');
      file.read_all(head.data(), head.size(), 0);
      const bool blank = is_blank(kind, head, bytes) && status->names == 1;
      says = begins_as_a_runs(kind, head) ? Says::kRuns : blank ? Says::kNothing : Says::kOther;
    }
  });
  if (failure) unreadable = failure;
  return says;
}

const RunFiles::Seen* RunFiles::find(const std::string& name) const {
  const auto found = std::find_if(files_.begin(), files_.end(),
                                  [&](const Seen& file) { return file.name == name; });
  return found == files_.end() ? nullptr : &*found;
}

bool RunFiles::is_named(const std::string& name) const {
  // A damaged disk may leave no sum.
  if (!lock_.run_id.empty() && name == std::string(kHeartbeatStem) + lock_.run_id) return true;
  if (kind_of(name) != FileKind::kAdjoint) return false;
  if (number_behind(kAdjointStem, name) < lock_.adjoints) return true;
  const Seen* const journal = find(std::string(kJournalStem) + name.substr(kAdjointStem.size()));
  return journal != nullptr && is_made(*journal);
}

bool RunFiles::is_made(const Seen& file) const {
  if (file.says == Says::kUnusable) return false;
  if (file.says == Says::kRuns || is_named(file.name)) return true;
  return file.says == Says::kNothing && was_here_;
}

bool RunFiles::made(const std::string& name) const {
  const Seen* const file = find(name);
  return file != nullptr && is_made(*file);
}

std::string RunFiles::foreign() const {
  const auto found =
      std::find_if(files_.begin(), files_.end(), [&](const Seen& file) { return !is_made(file); });
  return found == files_.end() ? "" : found->name;
}

void RunFiles::require_made() const {
  const std::string name = foreign();
  const bool has_lock = find(kLockName) != nullptr;
  const bool blank = has_lock && std::all_of(files_.begin(), files_.end(), [](const Seen& file) {
                       return file.says == Says::kNothing;
                     });
  if (name.empty() || blank) return;
  if (unreadable_ && !was_here_) throw Error(unreadable_.status, unreadable_.message);
  const bool is_named_so = kind_of(name) != FileKind::kNone;
  throw Error(ANADROME_ERR_ARGUMENT,
              directory_.path() + " exists and holds '" + name + "', which " +
                  (is_named_so ? "nothing says is a run's" : "is not a run's") +
                  "; set another name or directory, or move that file");
}

std::int64_t RunFiles::ranks_with_adjoints() const {
  std::int64_t ranks = 0;
  for (const Seen& file : files_) {
    if (file.kind == FileKind::kAdjoint && is_made(file))
      ranks = std::max(ranks, number_behind(kAdjointStem, file.name) + 1);
  }
  return ranks;
}

// After a power loss no journal may be back whose files are gone.
std::string RunFiles::remove_all(const std::string& verb) const {
  Failure failed;
  std::string foreign;
  bool journals = false;  // were removed
  for (const Seen& file : files_) {
    if (file.name == kLockName) continue;
    if (!is_made(file)) {
      foreign = file.name;
      continue;
    }
    const Failure here = failure_from([&] {
      const bool is_journal = file.kind == FileKind::kJournal;
      if (!is_journal && std::exchange(journals, false)) directory_.sync();
      journals = journals || is_journal;
      const int gone = directory_.unlink(file.name);
      if (gone < 0 && gone != -ENOENT) throw_errno(gone, verb, directory_.path_of(file.name));
    });
    if (here && !failed) failed = here;
  }
  if (failed) throw Error(failed.status, failed.message);
  return foreign;
}

void RunFiles::remove_of_rank(const Directory& directory, const std::string& journal) {
  const std::string adjoint = std::string(kAdjointStem) + journal.substr(kJournalStem.size());
  Failure unreadable;
  if (look_at(directory, journal, unreadable) != Says::kRuns) return;
  const std::optional<FileStatus> status = directory.status(adjoint);
  const bool is_ours = status && status->regular && status->owner == directory.owner();
  for (const std::string& name : {journal, adjoint}) {
    const int gone = name == journal || is_ours ? directory.unlink(name) : 0;
    if (gone < 0 && gone != -ENOENT) throw_errno(gone, "remove", directory.path_of(name));
  }
}

bool RunFiles::remove_one(const Directory& directory, const std::string& name) {
  Failure unreadable;
  const Says says = look_at(directory, name, unreadable);
  if (says != Says::kRuns && says != Says::kNothing) return false;
  const int gone = directory.unlink(name);
  if (gone < 0 && gone != -ENOENT) throw_errno(gone, "remove", directory.path_of(name));
  return gone == 0;
}

}  // namespace anadrome::store

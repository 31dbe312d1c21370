// SPDX-License-Identifier: BSD-2-Clause
#include "engine/disk/journal_hosts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checksum.h"
#include "base/index.h"
#include "store/directory/process_identity.h"
#include "store/directory/run_files.h"
#include "store/journal/journal_reader.h"

namespace anadrome::engine {
namespace {

const std::string kKey = "hosts=";
constexpr const char* kOtherHosts =
    "; start on the same hosts in the same order, or set resume=off to start over";
constexpr const char* kHidden =
    "; a server of the file system may be away: start again when it is back, or set resume=off to "
    "start over";

/// The journals in this rank's directory.
struct Seen {
  std::vector<store::JournalHeader> committed;  ///< a header is written with the first commit
  std::uint64_t sum = 0;                        ///< differs between directories; 0: no journal
};

Seen look_into(const std::string& directory) {
  Seen seen;
  if (store::FilePlace(directory).lacks()) return seen;
  const store::Directory held = store::Directory::open(directory);
  std::vector<std::string> names = store::files_in(held);
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) {
    if (!store::is_journal(name)) continue;
    bool is_there = true;
    const Failure unreadable = failure_from([&] {
      const auto journal = store::find_journal({held, name});
      is_there = journal.has_value();
      if (!is_there) return;
      seen.committed.push_back(journal->header);
      const store::JournalHeader& header = seen.committed.back();
      text += std::to_string(header.run_id_low) + " " + std::to_string(header.run_id_high) + "\n";
    });
    if (is_there) text += name + "\n";
    const bool damaged =
        unreadable.status == ANADROME_ERR_CORRUPT || unreadable.status == ANADROME_ERR_UNSUPPORTED;
    if (unreadable && !damaged) throw Error(unreadable.status, unreadable.message);
  }
  if (!text.empty()) seen.sum = hash_of(text) >> 1 | 1;
  return seen;
}

// The highest value says the lowest rank.
std::int64_t code_of(const Agreement& agreement) { return agreement.size() - agreement.rank(); }

// For each rank of this job the code of this one, if its journal is here; otherwise 0.
std::vector<std::int64_t> codes_of_seen(const Agreement& agreement, const Seen& seen) {
  std::vector<std::int64_t> codes(size(agreement.size()));
  for (const store::JournalHeader& header : seen.committed) {
    const auto rank = size(header.rank);
    if (rank < codes.size()) codes[rank] = code_of(agreement);
  }
  return codes;
}

struct Missing {
  int rank = 0;  ///< the lowest whose journal another rank has; or else whose nobody has
  bool elsewhere = false;
};

// Some rank lacks its journal.
Missing lowest_missing(Agreement& agreement, const std::vector<std::int64_t>& seen_by,
                       bool is_there) {
  std::array<std::int64_t, 2> codes{};
  if (!is_there) {
    const bool elsewhere = seen_by[size(agreement.rank())] != 0;
    codes[elsewhere ? 0 : 1] = code_of(agreement);
  }
  agreement.ranks().largest(codes);
  const bool elsewhere = codes[0] != 0;
  return {agreement.size() - static_cast<int>(codes[elsewhere ? 0 : 1]), elsewhere};
}

// This rank's complaint about a run of more or fewer ranks; "" if it sees none.
std::string other_number_of_ranks(const Agreement& agreement, const Seen& seen,
                                  const std::string& where) {
  for (const store::JournalHeader& header : seen.committed) {
    if (header.ranks == agreement.size()) continue;
    return "resume: " + where + " holds a run that was on " + std::to_string(header.ranks) +
           " ranks";
  }
  return "";
}

}  // namespace

std::string hosts_line(const Agreement& agreement) {
  std::string line = kKey;
  const int known = agreement.rank() == 0 ? agreement.size() : 1;
  for (int rank = 0; rank < known; ++rank) {
    line += (rank == 0 ? "" : " ") + agreement.process_of(rank).host;
  }
  return line + "\n";
}

std::string without_hosts_line(const std::string& options) {
  const auto begin = options.find(kKey);
  if (begin == std::string::npos) return options;
  const auto end = options.find('\n', begin);
  return options.substr(0, begin) + (end < options.size() ? options.substr(end + 1) : "");
}

std::string host_in(const std::string& options, int rank) {
  auto at = options.find(kKey);
  if (at == std::string::npos) return "";
  at += kKey.size();
  const auto end = std::min(options.find('\n', at), options.size());
  for (int i = 0; i < rank && at < end; ++i) at = std::min(options.find(' ', at), end - 1) + 1;
  return options.substr(at, std::min(options.find(' ', at), end) - at);
}

void require_journals_here(Agreement& agreement, const std::string& directory,
                           const store::JournalHeader* mine, bool is_there) {
  std::int64_t any_missing = is_there ? 0 : 1;
  agreement.ranks().largest(std::span(&any_missing, 1));
  if (any_missing == 0) return;
  Seen seen;
  std::vector<std::int64_t> seen_by;
  const Failure failure = failure_from([&] {
    seen = look_into(directory);
    seen_by = codes_of_seen(agreement, seen);
  });
  agreement.agree({.call = Call::kBegin, .failure = failure});
  const auto sum = static_cast<std::int64_t>(seen.sum);
  std::array<std::int64_t, 3> all = {sum, ~sum, seen.committed.empty() ? 0 : 1};
  agreement.ranks().largest(all);
  if (all[2] == 0) return;
  const bool one_directory = all[0] == ~all[1];

  agreement.ranks().largest(seen_by);
  const Missing missing = lowest_missing(agreement, seen_by, is_there);
  const bool has_it = seen_by[size(missing.rank)] == code_of(agreement);
  const std::string here = store::this_process().host;
  const std::string journal = "resume: rank " + std::to_string(missing.rank) + "'s journal ";
  const auto agree = [&](const std::string& text, const char* cure = kOtherHosts) {
    const Failure said = text.empty() ? Failure{} : Failure{ANADROME_ERR_ARGUMENT, text + cure};
    agreement.agree({.call = Call::kBegin, .failure = said});
  };
  agree(other_number_of_ranks(agreement, seen, directory + " on " + here));
  if (one_directory) agree(journal + "is missing in " + directory, kHidden);
  if (missing.elsewhere) agree(has_it ? journal + "is on " + here : "");
  const std::string was_on = mine != nullptr ? host_in(mine->options, missing.rank) : "";
  agree(was_on.empty() ? "" : journal + "was on " + was_on + ", and is on no host of this job");
  agree(journal + "is on no host of this job");
}

}  // namespace anadrome::engine

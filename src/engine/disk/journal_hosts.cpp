// SPDX-License-Identifier: BSD-2-Clause
#include "engine/disk/journal_hosts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
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

/// The journals in a directory.
struct Seen {
  std::vector<std::string> names;   ///< in their order
  std::uint64_t sum = 0;            ///< differs between directories; 0: no journal
  std::vector<std::int64_t> ranks;  ///< with a header, which is written with the first commit
  std::int64_t other_ranks = 0;     ///< there were so many, if not as many as in this job
};

// None: there is no commit in it, or it is damaged, or gone.
std::optional<store::JournalHeader> header_in(const store::Directory& held,
                                              const std::string& name) {
  std::optional<store::JournalHeader> header;
  const Failure unreadable = failure_from([&] {
    auto journal = store::find_journal({held, name});
    if (journal) header = std::move(journal->header);
  });
  const bool damaged =
      unreadable.status == ANADROME_ERR_CORRUPT || unreadable.status == ANADROME_ERR_UNSUPPORTED;
  if (unreadable && !damaged) throw Error(unreadable.status, unreadable.message);
  return header;
}

// Two directories with journals of the same names differ in the run of the first that has one.
Seen list(const store::Directory& held) {
  Seen seen;
  for (std::string& name : store::files_in(held)) {
    if (store::is_journal(name)) seen.names.push_back(std::move(name));
  }
  std::sort(seen.names.begin(), seen.names.end());
  std::string text;
  bool has_run = false;
  for (const std::string& name : seen.names) {
    text += name + "\n";
    const auto header = has_run ? std::nullopt : header_in(held, name);
    if (!header) continue;
    has_run = true;
    text += std::to_string(header->run_id_low) + " " + std::to_string(header->run_id_high) + "\n";
  }
  if (!text.empty()) seen.sum = hash_of(text) >> 1 | 1;
  return seen;
}

void read_headers(const store::Directory& held, int ranks, Seen& seen) {
  for (const std::string& name : seen.names) {
    const auto header = header_in(held, name);
    if (!header) continue;
    seen.ranks.push_back(header->rank);
    if (header->ranks != ranks && seen.other_ranks == 0) seen.other_ranks = header->ranks;
  }
}

// The highest value says the lowest rank.
std::int64_t code_of(const Agreement& agreement) { return agreement.size() - agreement.rank(); }

struct Missing {
  int rank = 0;  ///< the lowest whose journal another rank has; or else whose nobody has
  bool elsewhere = false;
};

// Some rank lacks its journal. So many ranks at a time that nobody needs room for all.
Missing lowest_missing(Agreement& agreement, const Seen& seen, bool is_there, bool one_directory) {
  std::array<std::int64_t, 512> seen_by;
  bool has_another = false;
  for (std::int64_t first = 0; first < agreement.size() && !one_directory;) {
    const std::int64_t end = std::min<std::int64_t>(first + std::ssize(seen_by), agreement.size());
    const auto is_here = [&](std::int64_t rank) { return first <= rank && rank < end; };
    seen_by.fill(0);
    for (const std::int64_t rank : seen.ranks) {
      if (is_here(rank)) seen_by[at(rank - first)] = 1;
    }
    agreement.ranks().largest(std::span(seen_by).first(size(end - first)));
    if (is_here(agreement.rank())) has_another = seen_by[at(agreement.rank() - first)] != 0;
    first = end;
  }
  std::array<std::int64_t, 2> codes{};
  if (!is_there) codes[has_another ? 0 : 1] = code_of(agreement);
  agreement.ranks().largest(codes);
  const bool elsewhere = codes[0] != 0;
  return {agreement.size() - static_cast<int>(codes[elsewhere ? 0 : 1]), elsewhere};
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

bool looks_for_node(Ranks& ranks, const std::string& directory) {
  const std::uint64_t mine = hash_of(directory);
  std::uint64_t of_first = mine;
  ranks.broadcast_on_node(std::as_writable_bytes(std::span(&of_first, 1)));
  return ranks.rank_on_node() == 0 || mine != of_first;
}

void require_journals_here(Agreement& agreement, const std::string& directory,
                           const store::JournalHeader* mine, bool is_there) {
  std::int64_t any_missing = is_there ? 0 : 1;
  agreement.ranks().largest(std::span(&any_missing, 1));
  if (any_missing == 0) return;
  // One rank of each node lists its directory. If that is one for all, rank 0 reads the journals.
  Ranks& ranks = agreement.ranks();
  const bool looks = looks_for_node(ranks, directory);
  Seen seen;
  store::Directory held;
  Failure failure = failure_from([&] {
    if (!looks || store::FilePlace(directory).lacks()) return;
    held = store::Directory::open(directory);
    seen = list(held);
  });
  agreement.agree({.call = Call::kBegin, .failure = failure});
  constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::min();
  const auto sum = static_cast<std::int64_t>(seen.sum);
  std::array<std::int64_t, 2> sums = {looks ? sum : kNobody, looks ? ~sum : kNobody};
  ranks.largest(sums);
  const bool one_directory = sums[0] == ~sums[1];
  failure = failure_from([&] {
    if (held && (!one_directory || agreement.rank() == 0))
      read_headers(held, agreement.size(), seen);
  });
  agreement.agree({.call = Call::kBegin, .failure = failure});
  std::int64_t committed = seen.ranks.empty() ? 0 : 1;
  ranks.largest(std::span(&committed, 1));
  if (committed == 0) return;

  const Missing missing = lowest_missing(agreement, seen, is_there, one_directory);
  const bool sees_it = std::count(seen.ranks.begin(), seen.ranks.end(), missing.rank) != 0;
  std::int64_t seen_by = sees_it ? code_of(agreement) : 0;
  ranks.largest(std::span(&seen_by, 1));
  const bool has_it = seen_by == code_of(agreement);
  // Words may lack the memory on one rank; the others are here all the same.
  const auto agree = [&](const auto& words, const char* cure = kOtherHosts) {
    failure = failure_from([&] {
      const std::string text = words();
      if (!text.empty()) throw Error(ANADROME_ERR_ARGUMENT, text + cure);
    });
    agreement.agree({.call = Call::kBegin, .failure = failure});
  };
  const auto here = [] { return store::this_process().host; };
  const auto journal = [&] {
    return "resume: rank " + std::to_string(missing.rank) + "'s journal ";
  };
  agree([&] {
    return seen.other_ranks == 0
               ? ""
               : "resume: " + directory + " on " + here() + " holds a run that was on " +
                     std::to_string(seen.other_ranks) + " ranks";
  });
  const auto missing_here = [&] { return journal() + "is missing in " + directory; };
  if (one_directory) agree(missing_here, kHidden);
  if (missing.elsewhere) agree([&] { return has_it ? journal() + "is on " + here() : ""; });
  agree([&] {
    const std::string was_on = mine != nullptr ? host_in(mine->options, missing.rank) : "";
    return was_on.empty() ? "" : journal() + "was on " + was_on + ", and is on no host of this job";
  });
  agree([&] { return journal() + "is on no host of this job"; });
}

}  // namespace anadrome::engine

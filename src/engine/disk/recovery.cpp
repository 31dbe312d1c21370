// SPDX-License-Identifier: BSD-2-Clause
#include "engine/disk/recovery.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include "base/index.h"
#include "engine/disk/journal_hosts.h"
#include "store/directory/process_identity.h"
#include "store/directory/run_directory.h"
#include "store/files/file_system.h"
#include "store/journal/journal.h"
#include "store/memory/block_layout.h"
#include "store/tiers/volume.h"

namespace anadrome::engine {
namespace {

// The first field (name, role, type, size) that is another one.
std::string other_field(const std::string& left, const std::string& wanted) {
  std::string_view there = left, here = wanted;
  const auto next = [](std::string_view& lines) {
    const std::string line(lines.substr(0, lines.find('\n')));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    return line.empty() ? std::string("missing") : "'" + line + "'";
  };
  for (int number = 0;; ++number) {
    const std::string was = next(there), is = next(here);
    if (was == is && !(there.empty() && here.empty())) continue;
    return "field " + std::to_string(number) + " was " + was + " and is " + is;
  }
}

// The difference of two headers where they must be the same; "" if they are.
std::string difference(const store::JournalHeader& left, const store::JournalHeader& wanted) {
  if (left.rank != wanted.rank) {
    return "the journal of rank " + std::to_string(wanted.rank) + " is that of rank " +
           std::to_string(left.rank);
  }
  if (left.steps != wanted.steps) {
    return "it had " + (left.steps < 0 ? "an unknown number of" : std::to_string(left.steps)) +
           " steps";
  }
  if (left.problem != wanted.problem) return "option problem was '" + left.problem + "'";
  if (left.fields != wanted.fields) return other_field(left.fields, wanted.fields);
  if (without_hosts_line(left.options) != without_hosts_line(wanted.options)) {
    std::string options = without_hosts_line(left.options);
    std::replace(options.begin(), options.end(), '\n', ' ');
    return "its options were " + options;
  }
  return "";
}

// A damaged file is no run to go on with. A file that could not be read, or that another version of
// the library wrote, may be whole.
bool may_be_whole(const Failure& failure) {
  return failure && failure.status != ANADROME_ERR_CORRUPT;
}

// The adjoint fields of a commit, if they are whole; `buffer` has their size.
bool read_adjoint(const store::FilePlace& place, const store::JournalCommit& commit,
                  std::vector<std::byte>& buffer, Failure& unable) {
  if (buffer.empty()) return true;
  if (!commit.adjoint) return false;
  const auto bytes = std::ssize(buffer);
  const Failure failure = failure_from([&] {
    const store::File file = place.open(O_RDONLY);
    file.read_all(buffer.data(), buffer.size(), commit.generation % 2 * adjoint_slot_bytes(bytes));
  });
  if (may_be_whole(failure)) unable = failure;
  return !failure && adjoint_checksum(commit.generation, buffer) == *commit.adjoint;
}

std::int64_t largest(std::int64_t value, Ranks& ranks) {
  ranks.largest(std::span(&value, 1));
  return value;
}

std::int64_t smallest(std::int64_t value, Ranks& ranks) { return ~largest(~value, ranks); }

bool all_equal(std::int64_t value, Ranks& ranks) {
  return largest(value, ranks) == smallest(value, ranks);
}

// The newest commit that every rank has whole. Its bytes are read again when it is chosen.
bool choose_commit(Recovery& recovery, const store::FilePlace& adjoint, Ranks& ranks,
                   Failure& unable) {
  std::int64_t at_most = std::numeric_limits<std::int64_t>::max();
  for (;;) {
    std::int64_t newest = 0;
    for (auto commit = recovery.journal.commits.rbegin();
         commit != recovery.journal.commits.rend() && newest == 0; ++commit) {
      if (commit->generation > at_most) continue;
      if (!read_adjoint(adjoint, *commit, recovery.adjoint, unable)) continue;
      newest = commit->generation;
      const Failure failure = failure_from([&] { recovery.commit = *commit; });
      if (failure) unable = failure;
    }
    at_most = smallest(newest, ranks);
    if (at_most == 0) return false;
    if (largest(newest, ranks) == at_most) break;
  }
  const bool same_position = all_equal(recovery.commit.position, ranks);
  return all_equal(recovery.commit.anchors, ranks) && same_position;
}

// On node-local disks of hosts in another order there may be journals of two runs.
void require_one_run(Agreement& agreement, const store::JournalHeader& header) {
  std::array<std::uint64_t, 2> of_first = {header.run_id_low, header.run_id_high};
  agreement.ranks().broadcast(std::as_writable_bytes(std::span(of_first)), 0);
  const bool same = of_first[0] == header.run_id_low && of_first[1] == header.run_id_high;
  agreement.agree({.call = Call::kBegin,
                   .failure = failure_from([&] {
                     if (same) return;
                     throw Error(ANADROME_ERR_ARGUMENT,
                                 "resume: the journal of this rank on " +
                                     store::this_process().host +
                                     " is of another run than that of rank 0; start on the "
                                     "hosts of one of them, or set resume=off to start over");
                   })});
}

bool is_plausible(const store::JournalCommit& commit) {
  if (commit.anchors < 1 || commit.stretches.empty()) return false;
  return commit.phase == store::JournalCommit::Phase::kForward || commit.steps >= commit.position;
}

}  // namespace

std::string adjoint_file_name(std::int64_t rank) {
  return "adjoint" + store::journal_file_name(rank).substr(std::string("journal").size());
}

std::int64_t adjoint_slot_bytes(std::int64_t adjoint_bytes) {
  return (adjoint_bytes + store::kPage - 1) / store::kPage * store::kPage;
}

Checksum adjoint_checksum(std::int64_t generation, const std::vector<std::byte>& bytes) {
  ChecksumStream stream;
  stream.add_value(generation);
  stream.add(bytes.data(), bytes.size());
  return stream.finish();
}

std::optional<Recovery> find_recovery(Agreement& agreement, const std::string& directory,
                                      const store::JournalHeader& wanted,
                                      std::int64_t adjoint_bytes, const char*& why_not) {
  Ranks& ranks = agreement.ranks();
  // Its files are being removed, by a process that died at it: some are missing on purpose.
  const bool ended = looks_for_node(ranks, directory) && store::RunDirectory::has_ended(directory);
  if (largest(ended ? 1 : 0, ranks) != 0) {
    return std::nullopt;
  }
  Recovery recovery;
  store::Directory held;
  bool is_there = false;
  Failure unreadable = failure_from([&] {
    recovery.adjoint.resize(size(adjoint_bytes));
    if (store::FilePlace(directory).lacks()) return;
    held = store::Directory::open(directory);
    is_there = true;  // unless it is found not to be
    std::optional<store::JournalContents> found =
        store::find_journal({held, store::journal_file_name(wanted.rank)});
    is_there = found.has_value();
    if (found) recovery.journal = std::move(*found);
  });
  agreement.agree(
      {.call = Call::kBegin, .failure = may_be_whole(unreadable) ? unreadable : Failure{}});
  const bool found = is_there && !unreadable;
  const store::JournalHeader& header = recovery.journal.header;
  require_journals_here(agreement, directory, found ? &header : nullptr, is_there);

  std::int64_t ranks_then = found ? header.ranks : 0;
  ranks_then = largest(ranks_then, ranks);
  if (ranks_then == 0) {
    if (largest(is_there ? 1 : 0, ranks) != 0) {
      why_not =
          "it ended before its first commit (checkpoint_interval), or its journals are damaged";
    }
    return std::nullopt;
  }
  agreement.agree({.call = Call::kBegin,
                   .failure = failure_from([&] {
                     std::string other;
                     if (ranks_then != agreement.size()) {
                       other = "it was on " + std::to_string(ranks_then) + " ranks";
                     } else if (found) {
                       other = difference(header, wanted);
                     }
                     if (other.empty()) return;
                     throw Error(ANADROME_ERR_ARGUMENT,
                                 "resume: " + directory + " holds a run that is not this one: " +
                                     other + "; set resume=off to start over");
                   })});
  if (smallest(found ? 1 : 0, ranks) == 0) {
    why_not = "a rank's journal is missing or not readable";
    return std::nullopt;
  }
  require_one_run(agreement, header);
  if (!all_equal(header.sweep, ranks)) {
    why_not = "its journals are of different sweeps";
    return std::nullopt;
  }
  if (header.sweep != wanted.sweep) {
    why_not = "it was in another sweep";
    return std::nullopt;
  }
  for (const store::JournalCommit& commit : recovery.journal.commits) {
    recovery.newest_generation = std::max(recovery.newest_generation, commit.generation);
  }
  recovery.newest_generation = largest(recovery.newest_generation, ranks);

  Failure unable;
  const std::string adjoint = adjoint_file_name(wanted.rank);
  bool chosen = choose_commit(recovery, {held, adjoint}, ranks, unable);
  // An earlier commit will do, unless that was for want of memory.
  const bool will_do = chosen && unable.status != ANADROME_ERR_MEMORY;
  agreement.agree({.call = Call::kBegin, .failure = will_do ? Failure{} : unable});
  chosen = smallest(chosen && is_plausible(recovery.commit) ? 1 : 0, ranks) == 1;
  if (!chosen) {
    why_not = "no commit of it is whole on all ranks";
    return std::nullopt;
  }
  // The commit of all ranks names the same files on each. Later ones were not on all.
  std::vector<store::JournalSegment>& segments = recovery.journal.segments;
  for (std::int64_t volume = 0; volume < store::kMostVolumes; ++volume) {
    const auto on_it = [&](const auto& segment) { return segment.volume == volume; };
    std::int64_t left = smallest(std::count_if(segments.begin(), segments.end(), on_it), ranks);
    std::erase_if(segments, [&](const auto& segment) { return on_it(segment) && left-- <= 0; });
  }
  return recovery;
}

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// Where the journals of a run lie. With layout node or rank they may be on the hosts' own disks: a
// run that goes on needs every rank on the host that it was on.
#pragma once

#include <string>

#include "engine/ranks/agreement.h"
#include "store/journal/journal_record.h"

namespace anadrome::engine {

/// The line of a journal's options that tells the hosts of the run's ranks: of all of them in rank
/// 0's journal, of rank 0 in the others.
std::string hosts_line(const Agreement& agreement);
/// The other lines, which must be the same when the run goes on.
std::string without_hosts_line(const std::string& options);
/// The host of `rank` as that line has it; "" where it does not.
std::string host_in(const std::string& options, int rank);

/// Does this rank look into `directory` for those of its node? The first one does, and whoever has
/// another directory than that. Collective.
bool looks_for_node(Ranks& ranks, const std::string& directory);

/// Throws ERR_ARGUMENT on all ranks, with a rank and a host, where `directory` on some host holds
/// commits of a run, and some rank's journal is not in its own: each makes its journal before the
/// first commit. `mine`: this rank's, NULL if it cannot be read;
/// `is_there`: the file is. Collective.
void require_journals_here(Agreement& agreement, const std::string& directory,
                           const store::JournalHeader* mine, bool is_there);

}  // namespace anadrome::engine

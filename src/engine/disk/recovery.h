// SPDX-License-Identifier: BSD-2-Clause
// The remains of a run that died, and the commit from which all ranks can go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/ranks/agreement.h"
#include "store/journal/journal_reader.h"

namespace anadrome::engine {

/// On this rank; the position is the same on all.
struct Recovery {
  store::JournalContents journal;
  store::JournalCommit commit;
  std::vector<std::byte> adjoint;      ///< the bytes of the adjoint fields; the committer's later
  std::int64_t newest_generation = 0;  ///< of any commit that any rank began
  bool lost_fast = false;              ///< agreed; the journal does not say so yet
};

/// The newest commit that is whole on every rank, of a run as `wanted` describes it (its run id
/// does not count). None if there is none: `why_not` says why if there was something. Collective;
/// throws the same on all ranks: ERR_ARGUMENT where the run that was left is another one,
/// ERR_MEMORY, ERR_IO where it could not be read and may be whole.
std::optional<Recovery> find_recovery(Agreement& agreement, const std::string& directory,
                                      const store::JournalHeader& wanted,
                                      std::int64_t adjoint_bytes, const char*& why_not);

/// The file with a rank's adjoint fields; generation g lies in slot g % 2.
std::string adjoint_file_name(std::int64_t rank);
std::int64_t adjoint_slot_bytes(std::int64_t adjoint_bytes);
Checksum adjoint_checksum(std::int64_t generation, const std::vector<std::byte>& bytes);

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// The records of a journal. One journal per rank holds everything that a run which died needs to go
// on. docs/format.md has the bytes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/checksum.h"
#include "store/files/format.h"
#include "store/files/skeleton.h"
#include "store/memory/block_layout.h"
#include "store/memory/pieces.h"

namespace anadrome::store {

/// The first record, and the only one of its kind.
struct JournalHeader {
  std::uint64_t run_id_low = 0, run_id_high = 0;
  std::int64_t sweep = 1;
  std::int64_t ranks = 1;
  std::int64_t rank = 0;
  std::int64_t steps = -1;  ///< n; -1: unknown
  BlockShape shape;
  std::string fields;   ///< this rank's: see field_table
  std::string options;  ///< lines key=value that must not differ when the run goes on
  std::string problem;  ///< must not differ either; in the caller's words
  bool operator==(const JournalHeader&) const = default;
};

/// A segment was made: what Segment wants to open it again.
struct JournalSegment {
  std::int64_t number = 0;
  std::int64_t first_block = 0;
  std::int64_t blocks = 1;
  std::string file;  ///< name in the run's directory
  SegmentOffsets offsets;
  std::vector<std::int64_t> strides_before;  ///< per state field, in bytes, of the lower ranks
  std::int64_t volume = 0;                   ///< whose place `first_block` is
  bool operator==(const JournalSegment&) const = default;
};

/// A block that is on disk. A later record of the same number takes the place of this one.
struct JournalBlock {
  std::int64_t block = 0;
  std::int64_t first_step = 0;  ///< step of its first state
  std::int64_t states = 1;      ///< in the block
  Checksum sum;
  EncodedBlock encoded;
  /// Where a run has two volumes, which has the block, and in which of its places.
  struct Place {
    std::int64_t volume = 0, place = 0;
    bool operator==(const Place&) const = default;
  };
  std::optional<Place> place = {};  ///< none: home, at the place of its number
  /// A place that no volume has.
  static constexpr std::int64_t kGone = std::numeric_limits<std::int64_t>::max() / 2;
  bool operator==(const JournalBlock&) const = default;
};

/// Blocks from this number on are void: they are about to be written again.
struct JournalTruncate {
  std::int64_t blocks = 0;
  std::optional<std::int64_t> volume = {};  ///< only those on it, which is gone with its segments
  bool operator==(const JournalTruncate&) const = default;
};

/// From here the run can go on, if all ranks say so.
struct JournalCommit {
  enum class Phase : std::uint32_t { kForward = 0, kReverse = 1 };
  /// Anchors `number`, `number` + 1, ... are of steps `step`, `step` + `spacing`, ...
  struct Stretch {
    std::int64_t number = 0, step = 0, spacing = 0;
    bool operator==(const Stretch&) const = default;
  };
  std::int64_t generation = 1;
  Phase phase = Phase::kForward;
  /// Forward: step of the newest anchor, which is the live state. Reverse: steps from this one on
  /// are adjoined.
  std::int64_t position = 0;
  std::int64_t steps = -1;  ///< n; -1: unknown
  std::int64_t anchors = 0;
  std::vector<Stretch> stretches;
  std::int64_t interval = 0;
  std::int64_t slots = 0;
  std::optional<Checksum> adjoint;  ///< of the adjoint fields' bytes, where they are stored
  bool operator==(const JournalCommit&) const = default;
};

using JournalRecord =
    std::variant<JournalHeader, JournalSegment, JournalBlock, JournalTruncate, JournalCommit>;

/// Magic, version and their checksum; these bytes mean the same in every version.
inline constexpr std::size_t kJournalPreambleBytes = 32;
/// Bytes of a record beside its payload: length and type before it, the checksum after it.
inline constexpr std::size_t kRecordHeadBytes = 8, kRecordSumBytes = 16;
inline constexpr std::size_t kMostPayloadBytes = std::size_t{1} << 24;

std::string journal_preamble(std::uint32_t version = kJournalVersion);
/// The checksum at the end of the preamble, to which the first record is chained.
Checksum journal_preamble_sum(std::uint32_t version = kJournalVersion);

/// The whole record with head and checksum; `chain`, the sum of what precedes it, becomes its own.
/// Throws ERR_ARGUMENT, with `chain` unchanged, for one that no reader would accept.
std::string encode_record(const JournalRecord& record, Checksum& chain);

/// The sum of a record that follows one of sum `before`; `head_and_payload` without the sum.
Checksum record_sum(const Checksum& before, std::string_view head_and_payload);

/// For any number in a file. Synced: nothing is written behind such a record before it is on disk.
bool is_record_type(std::uint32_t type);
bool is_synced_type(std::uint32_t type);

/// None if these bytes are no record of this type, or say what cannot be.
std::optional<JournalRecord> decode_record(std::uint32_t type, std::string_view payload);

}  // namespace anadrome::store

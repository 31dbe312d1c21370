// SPDX-License-Identifier: BSD-2-Clause
// The schedules that a run plays, a row each: what a schedule needs, how its sweep is made and what
// that is expected to take. Who asks about a schedule asks its row; nobody else knows a schedule by
// its name. Those for other people's loops are streams (planners/streams.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace anadrome::schedule {

/// The states that go to disk.
enum class OnDisk : std::uint8_t {
  kNothing,
  kAnchors  ///< states that stay where they are, in blocks
};

/// Which tapes are kept, if the adjoint of a step needs its tape.
enum class KeptTapes : std::uint8_t {
  kNone,  ///< each is recorded where it is needed
  kAll,   ///< if all of them fit
  kSome   ///< as many as fit
};

/// When schedule=auto takes a schedule.
enum class InAuto : std::uint8_t {
  kNever,
  kEveryStateFits,
  kNoDisk,  ///< where what files want of the layout leaves too few of small states
  kByDefault
};

struct Needs {
  OnDisk on_disk = OnDisk::kNothing;
  bool steps = false;  ///< n, before the sweep begins
  bool tape = false;   ///< tape fields
  bool undo = false;   ///< steps that can be run backwards
};

/// States that a sweep of steps run backwards holds in memory, beside those on their way.
inline constexpr std::int64_t kHeldByUndo = 3;

struct Problem;
class Sweep;

struct Entry {
  const char* name;
  Needs needs;
  InAuto in_auto = InAuto::kNever;
  KeptTapes tapes = KeptTapes::kNone;
  /// Anchors are at intervals, which the option interval names.
  bool at_intervals = false;
  /// Takes no memory beyond the option `checkpoints`.
  bool capped_by_checkpoints = false;
  /// The sweep. Throws ERR_ARGUMENT, ERR_MEMORY or ERR_NO_SPACE where there can be none. The same
  /// on all ranks.
  std::unique_ptr<Sweep> (*make)(const Problem&) = nullptr;
  /// Seconds that the sweep takes.
  double (*forecast)(const Problem&) = nullptr;

  bool keeps_every_state() const { return in_auto == InAuto::kEveryStateFits; }
};

/// In the order in which they are listed for people.
std::span<const Entry> catalogue();
/// Names of the streams that a run does not play.
std::span<const char* const> names_of_streams();
/// NULL: a run plays none of this name.
const Entry* find_schedule(std::string_view name);
/// The one that schedule=auto takes in a case that has only one.
const Entry& schedule_for(InAuto in_auto);

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// All schedules, a row each: what a schedule needs, what it takes of the memory beside states, how
// its sweep is made and what that is expected to take. Who asks about a schedule asks its row;
// nobody else knows a schedule by its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "schedule/revolve.h"

namespace anadrome::schedule {

/// The states that go to disk.
enum class OnDisk : std::uint8_t {
  kNothing,
  kAnchors,  ///< states that stay where they are, in blocks
  kReplaced  ///< states that replace each other, one at a time
};

/// Which tapes are kept, if the adjoint of a step needs its tape.
enum class KeptTapes : std::uint8_t {
  kNone,  ///< each is recorded where it is needed
  kAll,   ///< if all of them fit
  kSome   ///< as many as fit
};

/// Numbers of each step that a schedule plans from. Numbers that nobody gave are measured by a
/// first sweep.
struct StepNumbers {
  bool costs = false;          ///< seconds of the forward step
  bool adjoint_costs = false;  ///< and of its adjoint
  bool sizes = false;          ///< bytes of its state, if states have several sizes
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
  bool steps = false;     ///< n, before the sweep begins
  bool tape = false;      ///< tape fields
  bool branches = false;  ///< several branches; others need one
  StepNumbers each_step = {};
  std::int64_t most_steps = kMostSteps;
  const char* limit = "";  ///< "plans up to ... steps; take ..."
};

struct DividedMemory;
struct Problem;
struct Sizing;
class Sweep;

struct Entry {
  const char* name;
  const char* keeps;  ///< what, where: half a line
  Needs needs;
  /// A run plays it. The others are planners: streams for loops that do the rest themselves.
  bool in_runs = false;
  InAuto in_auto = InAuto::kNever;
  KeptTapes tapes = KeptTapes::kNone;
  /// Anchors are at intervals, which the options interval and anchors name.
  bool at_intervals = false;
  /// Blocks of memory that are for reading ahead, at most.
  std::int64_t most_read_ahead = kMostSteps;
  /// An anchor has a block of its own beside the slots.
  bool anchor_apart = true;
  /// Takes no memory beyond the option `checkpoints`.
  bool capped_by_checkpoints = false;
  /// Bytes of a rank's memory for tables, at most. NULL: none.
  std::int64_t (*table_bytes)(const Sizing&) = nullptr;
  /// States held at a time by a schedule made for so many steps, whatever memory there is. NULL: as
  /// many as fit.
  std::int64_t (*states_held)(std::int64_t chain) = nullptr;
  /// Divides so much memory for states of so many bytes each, by step: how many units of which size
  /// the schedule takes, and where in them. NULL: it knows states of one size only.
  void (*divide)(const Problem&, std::vector<std::int64_t> bytes, std::int64_t memory,
                 DividedMemory&) = nullptr;
  /// The sweep. Throws ERR_ARGUMENT, ERR_MEMORY or ERR_NO_SPACE where there can be none. The same
  /// on all ranks.
  std::unique_ptr<Sweep> (*make)(Problem&) = nullptr;
  /// Seconds that the sweep takes; infinite where it cannot be told in time. NULL: nobody can tell.
  double (*forecast)(const Problem&) = nullptr;

  bool keeps_every_state() const { return in_auto == InAuto::kEveryStateFits; }
};

/// In the order in which they are listed for people.
std::span<const Entry> catalogue();
/// NULL: there is none of this name.
const Entry* find_schedule(std::string_view name);
/// The one that schedule=auto takes in a case that has only one.
const Entry& schedule_for(InAuto in_auto);

}  // namespace anadrome::schedule

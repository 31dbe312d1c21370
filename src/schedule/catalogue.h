// All schedules, a row each: what a schedule needs, and what it takes of the memory beside states.
// Who asks about a schedule asks its row; nobody else knows a schedule by its name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "schedule/revolve.h"

namespace anadrome::schedule {

/// What goes to disk.
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

/// Numbers of each step that a schedule plans from. Those that nobody gave are measured by a first
/// sweep.
struct StepNumbers {
  bool costs = false;          ///< seconds of the forward step
  bool adjoint_costs = false;  ///< and of its adjoint
  bool sizes = false;          ///< bytes of its state, if states have several sizes
};

/// When schedule=auto takes a schedule.
enum class InAuto : std::uint8_t {
  kNever,
  kEveryStateFits,
  kBranches,
  kByDefault,             ///< and it is weighed
  kWeighed,               ///< where measured times promise less
  kWeighedUnlimitedDisk,  ///< the same, with disk=unlimited only
  kWeighedLimitedDisk
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

/// What a schedule's tables are counted for.
struct Sizing {
  std::int64_t steps = 0;        ///< n, or kUnknown
  bool record = false;           ///< the adjoint of a step needs its tape
  std::int64_t memory = 0;       ///< bytes on a rank
  std::int64_t state_bytes = 1;  ///< on a rank, the mean
  std::int64_t state_bytes_all_ranks = 1;
  bool sizes_vary = false;
  std::int64_t disk = -1;     ///< bytes, all ranks together; -1: unlimited
  std::int64_t interval = 0;  ///< steps between anchors; 0: not given

  /// Steps that are reversed: TURN is one, unless a tape is what adjoint steps need.
  std::int64_t chain() const { return steps + (record ? 0 : 1) > 1 ? steps + (record ? 0 : 1) : 1; }
};

struct Entry {
  const char* name;
  const char* keeps;  ///< what, where: half a line
  Needs needs;
  InAuto in_auto = InAuto::kNever;
  KeptTapes tapes = KeptTapes::kNone;
  /// A list in which each transfer has its place: nothing is read ahead but by the list.
  bool is_list = false;
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

  bool keeps_every_state() const { return in_auto == InAuto::kEveryStateFits; }
  bool is(std::string_view other) const { return name == other; }
};

/// In the order in which they are listed for people.
std::span<const Entry> catalogue();
/// NULL: there is none of this name.
const Entry* find_schedule(std::string_view name);
/// The one that schedule=auto takes in a case that has only one.
const Entry& schedule_for(InAuto in_auto);

// Numbers that rows and planning share.
/// Of a plan for steps that differ: its table of sums.
std::int64_t uneven_table_bytes(const Sizing& sizing);
/// Is there memory for a thorough search for a list of transfers?
bool searches_thoroughly(std::int64_t memory);
/// Anchors that schedule=double has room for in its stack, at most.
std::int64_t most_double_anchors(std::int64_t steps, std::int64_t interval);

}  // namespace anadrome::schedule

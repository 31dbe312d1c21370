// SPDX-License-Identifier: BSD-2-Clause
// A rank's activities in time: events as values, and a recorder whose memory is fixed beforehand.
// Knows no clock, no files and no other rank.
//
// The recorder's rule. A quarter of the memory holds the events around TURN as they are, half of
// them before it: the newest ones until then. What is older or later goes to the rest, and stays as
// it is until that is full. Then the rest is thinned: time is cut into cells of `resolution`
// seconds, and the events of a lane that lie within one cell, and on the same side of TURN, become
// one event per activity, as long as its events were together. The resolution is at first the time
// covered over the buffer's size, and doubles until a quarter of the rest is free. That always
// comes to pass: in a cell as long as the sweep there are two events per activity. So nothing is
// ever lost: the seconds of each activity stay what they were, and as cells of twice the length
// consist of whole cells, no event ever moves by more than the resolution.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace anadrome::engine {

enum class Lane : std::uint8_t { kSolver, kIo, kPasses, kFastIo };
inline constexpr std::size_t kLanes = 4;

/// kRead and kWrite are on the I/O lane, those of a fast directory and whole passes on lanes of
/// their own, the others on the solver's.
enum class Activity : std::uint8_t {
  kAdvance,    ///< the caller runs steps for the first time
  kRecompute,  ///< the caller runs steps that were run before
  kAdjoint,    ///< the caller's adjoint of a step
  kVisit,      ///< the caller's visit of a step, in a pass forward
  kTurn,       ///< the caller's objective, between the forward and the reverse sweep
  kCopy,       ///< registered fields to or from a slot
  kWait,       ///< for a write or a read
  kAgree,      ///< for the other ranks
  kWrite,      ///< a block to disk
  kRead,       ///< a block from disk
  kForwardPass,
  kReversePass,
  kFastWrite,
  kFastRead
};
inline constexpr std::size_t kActivities = 14;

constexpr std::size_t index_of(Activity activity) { return static_cast<std::size_t>(activity); }
constexpr std::size_t index_of(Lane lane) { return static_cast<std::size_t>(lane); }
constexpr Lane lane_of(Activity activity) {
  if (activity == Activity::kWrite || activity == Activity::kRead) return Lane::kIo;
  if (activity == Activity::kFastWrite || activity == Activity::kFastRead) return Lane::kFastIo;
  const bool is_pass = activity == Activity::kForwardPass || activity == Activity::kReversePass;
  return is_pass ? Lane::kPasses : Lane::kSolver;
}
/// "advance", "recompute", ...
const char* to_string(Activity activity);
/// "solver", "I/O", ...
const char* to_string(Lane lane);

/// Steps first .. last-1 of an advance, a pass, an adjoint or a visit (there last = first + 1); of
/// a block, the steps of its first and last state. Events of one rank and lane do not overlap.
/// There is no padding: arrays of events travel as bytes.
struct TraceEvent {
  double start = 0, end = 0;  ///< seconds since the sweep's start
  std::int64_t first = 0, last = 0;
  Activity activity = Activity::kAdvance;
  std::array<std::uint8_t, 7> unused = {};
};

/// The facts of a sweep that the writers add to its events.
struct TraceHeading {
  std::string schedule;
  std::string version;
  std::int64_t steps = 0;
  int ranks = 1;
  double seconds = 0;  ///< of the whole sweep, on the rank that took longest
};

class Trace {
 public:
  /// Takes all memory it will ever use: `most_events` events, at least kLeastEvents.
  explicit Trace(std::size_t most_events);

  /// Amortised constant time. Events may come in any order. One that starts before 0, ends before
  /// it starts, or is at no finite time is ignored.
  void add(const TraceEvent& event) noexcept;
  void clear() noexcept;

  /// In no particular order.
  std::span<const TraceEvent> events() const { return events_; }
  /// How many of the events that were added do not stand on their own any more.
  std::int64_t merged() const { return merged_; }
  /// Length of the cells within which events were merged; 0: none were.
  double resolution() const { return resolution_; }

  static constexpr std::size_t kLeastEvents = 40;

 private:
  void add_to_rest(const TraceEvent& event) noexcept;
  void thin() noexcept;
  void merge_cells() noexcept;

  const std::size_t most_;
  const std::size_t close_;           ///< so many are kept around TURN
  std::vector<TraceEvent> events_;    ///< those around TURN, as a ring, and then the rest
  std::size_t oldest_ = 0;            ///< in the ring, once it is full
  std::size_t close_after_turn_ = 0;  ///< still to come into the ring, once TURN is known
  double turn_ = kNotYet;
  std::int64_t merged_ = 0;
  double resolution_ = 0;

  static constexpr double kNotYet = std::numeric_limits<double>::infinity();
};

}  // namespace anadrome::engine

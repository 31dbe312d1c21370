// SPDX-License-Identifier: BSD-2-Clause
// The words in which every schedule says what to do next: plain values, one struct for each action.
// A schedule knows steps, places and branches, and nothing about states, files or ranks; so it can
// be tested without I/O and without MPI.
#pragma once

#include <cstdint>
#include <variant>

namespace anadrome::schedule {

/// A branch makes its x_0 live.
struct Start {
  std::int64_t branch = 0;
  bool again = false;  ///< x_0 was live before
  friend bool operator==(const Start&, const Start&) = default;
};

/// Steps first .. last-1 are run from the live state x_first; x_last is live afterwards.
struct Advance {
  std::int64_t first = 0, last = 0, branch = 0;
  bool record = false;  ///< the last step fills the tape
  bool again = false;   ///< these steps were run before
  friend bool operator==(const Advance&, const Advance&) = default;
};

enum class What : std::uint8_t {
  kState,  ///< x_step
  kTape,   ///< the tape of step `step`
};

/// Tiers are numbered from the fastest one on.
inline constexpr std::int32_t kRamTier = 0, kDiskTier = 1;

/// Where a state lies in memory, in the schedule's units.
struct Room {
  std::int64_t begin = 0, units = 1;
  friend bool operator==(const Room&, const Room&) = default;
};

/// A state or a tape in its place.
struct Kept {
  What what = What::kState;
  std::int32_t tier = kRamTier;
  std::int64_t step = 0;
  /// RAM: a slot, of a tape the first of its slots. Disk: the number of the anchor.
  std::int64_t place = 0;
  /// Where it lies, if the schedule counts memory in units. A state on disk has a room while it is
  /// in memory.
  Room room = {};
  friend bool operator==(const Kept&, const Kept&) = default;
};

struct Keep : Kept {};     ///< copy the live state, or the tape just recorded, there
struct Restore : Kept {};  ///< copy it back; the tape of a step that restarts makes x_step+1 live
struct Drop : Kept {};     ///< its place is free again; what is on disk leaves memory only
struct Write : Kept {};    ///< queue the write of a kept anchor
struct Read : Kept {};     ///< queue the read of an anchor, into its room

/// The schedule does not know how to go on: Sweep::decide says what it needs.
struct Decide {
  std::int64_t step = 0;  ///< the live state
  friend bool operator==(const Decide&, const Decide&) = default;
};

/// The live state is x_n of its branch: the reverse sweep begins. In a pass no state is live.
struct Turn {
  std::int64_t step = 0, branch = 0;
  bool again = false;  ///< the end was seen before: its adjoint begins (branches, passes)
  friend bool operator==(const Turn&, const Turn&) = default;
};

/// The adjoint of a step: its state is live, or its tape was recorded or restored just before.
struct Adjoint {
  std::int64_t step = 0, branch = 0;
  friend bool operator==(const Adjoint&, const Adjoint&) = default;
};

/// In a pass forward: x_step is live, or the tape of the step was recorded or restored just before.
/// Both stay as they are.
struct Visit {
  std::int64_t step = 0;
  friend bool operator==(const Visit&, const Visit&) = default;
};

/// Nothing is left to do.
struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};

using Action = std::variant<Start, Advance, Keep, Restore, Drop, Write, Read, Decide, Turn, Adjoint,
                            Visit, Done>;

/// For std::visit: one function for each kind of action.
template <class... Functions>
struct Cases : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Cases(Functions...) -> Cases<Functions...>;

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The actions of one sweep, for a loop that does everything itself but the planning: no memory, no
// disk, no ranks. Whatever a schedule would measure in a run is in the options.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "planners/streams.h"
#include "schedule/words/sweep.h"

namespace anadrome::schedule {

/// A sweep in the abstract, asked for in words: "schedule=hrevolve steps=1000 slots=20 write=2".
/// They are those of `anadrome count`.
struct StreamOptions {
  const StreamEntry* schedule = nullptr;
  std::vector<std::int64_t> steps;  ///< of each branch; kUnknown
  std::int64_t slots = 0;           ///< states in RAM; bytes if `bytes` are given
  std::int64_t disk_slots = kNoLimit;
  std::int64_t interval = 0;                         ///< steps between anchors; 0: whatever is best
  std::int64_t tape_slots = 0;                       ///< of a kept tape; 0: tapes are not kept
  bool record = false;                               ///< the adjoint of a step needs its tape
  bool tape_restarts = false;                        ///< the tape of step k holds x_{k+1}
  bool reducible = false;                            ///< the objective of branches
  bool charged_inputs = false;                       ///< x_0 of each branch is kept
  std::vector<double> advance = {1}, adjoint = {0};  ///< one for all steps, or one for each
  double write = 0, read = 0;
  std::vector<std::int64_t> bytes;  ///< of x_0 .. x_{n-1}; empty: all are alike

  /// Throws ERR_ARGUMENT: an unknown word names the nearest one, a value that makes no sense says
  /// what is expected, and so do words that do not go together.
  explicit StreamOptions(std::string_view text);

 private:
  void check();
  void check_steps() const;
  void check_costs();
};

/// The state or tape that the action is about; NULL: none.
Kept* kept_of(Action& action);

class Stream {
 public:
  /// Throws what StreamEntry::make throws.
  explicit Stream(const StreamOptions& options);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Any but Decide; after Done: Done. Where states have several sizes, rooms are in bytes.
  Action next();
  /// Unknown n: the forward sweep ended with x_steps live, inside the Advance that next() gave
  /// last. Throws ERR_ORDER where there is none, ERR_ARGUMENT on a step outside it.
  void end(std::int64_t steps);

 private:
  void divide(const StreamOptions& options);
  Action of_sweep();
  Action with_anchor_in_memory(Action action);

  StreamProblem problem_;
  std::unique_ptr<Sweep> sweep_;
  bool anchors_;                    ///< one of the slots is for the anchor in use
  std::int64_t in_use_ = kUnknown;  ///< its number, if it is in that slot
  std::deque<Action> ahead_;        ///< to be given before the sweep is asked again
  Action last_ = Decide{};          ///< what next() gave
  bool ended_ = false;              ///< end() was called
  bool over_ = false;               ///< the last adjoint was given
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The actions of one sweep, for a loop that does everything itself but the planning: no memory, no
// disk, no ranks. Whatever a schedule would measure in a run is in the options.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "planners/stream_options.h"
#include "planners/streams.h"
#include "schedule/words/sweep.h"

namespace anadrome::schedule {

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

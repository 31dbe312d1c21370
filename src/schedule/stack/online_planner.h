// SPDX-License-Identifier: BSD-2-Clause
// The forward sweep to an end that nobody knows, from RAM: OnlinePlacement says which states to
// keep and which to give up. Then Revolve.
#pragma once

#include "schedule/stack/online_placement.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

struct OnlineOptions {
  std::int64_t slots = 1;   ///< the first state's own included
  bool keep_every = false;  ///< every state; an error when the slots are used up
  /// The number, from the bottom of the stack, of the first state that is placed: 0 where the state
  /// below it is an anchor.
  std::int64_t lowest = 1;
};

class OnlinePlanner final : public Planner {
 public:
  explicit OnlinePlanner(const OnlineOptions& options);

  /// x_first is kept for good, in one of `slots` slots; as many as the options say, at most.
  void begin(std::int64_t first, std::int64_t slots);

  /// Throws ERR_MEMORY where keep_every meets the end of the slots.
  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;
  bool leads() const override { return leads_; }
  void end_is(std::int64_t) override { leads_ = false; }

 private:
  OnlineOptions options_;
  OnlinePlacement placement_;
  bool leads_ = true;
  std::int64_t placed_ = 0;  ///< the newest state of which it is known whether it is kept
};

}  // namespace anadrome::schedule

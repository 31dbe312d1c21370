// Finds out whether steps can be run again: the hash of the state just before an anchor, when it is
// computed first and when it is computed again.
#pragma once

#include <cstdint>

#include "engine/context.h"
#include "engine/held.h"
#include "engine/live_state.h"
#include "engine/options.h"
#include "engine/sweep_state.h"
#include "schedule/sweep.h"

namespace anadrome::engine {

class Audits {
 public:
  explicit Audits(Context& context)
      : options_(context.options), held_(context.held), sweep_(context.sweep) {}

  /// The step before the next anchor, if it is to be audited; it is computed again unless the
  /// anchor before it is that state. kUnknown: none.
  std::int64_t next_step(const schedule::Sweep& sweep) const;
  void note(std::int64_t step, const LiveState& live);
  void check(std::int64_t step, const LiveState& live) {
    if (!sweep_.audits.empty()) compare(step, live);
  }

 private:
  void compare(std::int64_t step, const LiveState& live);

  const Options& options_;
  Held& held_;
  SweepState& sweep_;
};

}  // namespace anadrome::engine
